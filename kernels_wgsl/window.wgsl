//# Included where a kernel moves a window over images: the numbers of both.
override IN_H: u32; override IN_W: u32; override IN_C: u32;
override OUT_H: u32; override OUT_W: u32; override OUT_C: u32;
override K_H: u32; override K_W: u32; override STRIDE_H: u32; override STRIDE_W: u32;
override PAD_TOP: u32; override PAD_LEFT: u32; override DILATION_H: u32; override DILATION_W: u32;
