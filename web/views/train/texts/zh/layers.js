// @ts-check
/** Chinese texts of the Train view: the table of layers. */

/** Texts that the HTML has in English, by the data-text of their element. */
export const page = {};

/** @type {typeof import("../en/layers.js").texts} */
export const texts = {
  trainLayers: "层",
  trainLayersLater: "Python 正在启动，之后可以修改各层。",
  trainNetworkLater: "正在加载…",
  trainLayerAdd: "添加一层",
  trainLayerAddBelow: "在下方添加一层",
  trainLayerUp: "上移（Alt+↑）",
  trainLayerDown: "下移（Alt+↓）",
  trainLayerRemove: "删除这一层",
  trainKind: "层的类型",
  trainNetworks: {
    lenet5: "LeNet-5",
    mlp: "MLP",
    resnet: "小型 ResNet",
    cnn: "小型卷积网络",
    head: "特征上的分类头",
    chargpt: "字符 GPT",
    own: "您的网络",
  },
  trainKinds: {
    conv2d: "卷积",
    avgpool2d: "平均池化",
    maxpool2d: "最大池化",
    globalpool: "全局平均池化",
    residual: "残差块",
    flatten: "展平",
    embedding: "嵌入",
    transformer: "Transformer 块",
    linear: "线性层",
    relu: "ReLU",
    tanh: "Tanh",
    gelu: "GELU",
    batchnorm: "批归一化",
    layernorm: "层归一化",
    dropout: "Dropout",
  },
  trainFields: {
    out: "输出数",
    kernel: "窗口",
    stride: "步幅",
    padding: "填充",
    size: "窗口",
    width: "宽度",
    heads: "头数",
    p: "比例",
  },
  trainShape: (shape) => `输出 ${shape}`,
  trainParameters: (count) => `${count} 个参数`,
  trainTotal: (parameters, memory, batch) =>
    `共 ${parameters} 个参数；批大小为 ${batch} 时，每一步大约需要 ${memory} 内存。`,
  trainImpossible: "有一层无法使用，原因见该层。",
  trainReasons: {
    EMPTY: (classes) => `还没有层；请添加一个给出 ${classes} 个分数的层。`,
    UNKNOWN: (kind) => `没有“${kind}”这种层。`,
    NO_FIELD: (kind, field) => `“${kind}”没有“${field}”。`,
    WHOLE: (field, least, most) => `${field}必须是 ${least} 到 ${most} 之间的整数。`,
    NUMBER: (field, least, most) => `${field}必须是 ${least} 到 ${most} 之间的数。`,
    PICTURE: (shape) => `它需要图片（通道、高、宽），但输入是 ${shape}。`,
    KERNEL: (window, height, width) =>
      `${window}×${window} 的窗口大于加上填充后 ${height}×${width} 的图片。`,
    FLATTEN: (shape) => `它需要一列数，但输入是 ${shape} 的图片；请在前面加上展平层。`,
    TOKENS: () => "它需要文本的字符，因此必须是文本网络的第一层。",
    EMBED: () => "文本是一列字符；请以嵌入层开始。",
    SEQUENCE: (shape) => `它需要每个字符的向量，但输入是 ${shape}；请以嵌入层开始。`,
    HEADS: (heads, width) => `宽度 ${width} 不能被 ${heads} 个头整除。`,
    NORM: () => "它用于图片和一列数；文本请用层归一化。",
    LARGE: (parameters, most) => `它有 ${parameters} 个参数；一层最多 ${most} 个。`,
    CLASSES: (shape, classes) => `网络必须以 ${classes} 个分数结束，每类一个，但它给出 ${shape}。`,
  },
};
