// The views' classes and texts. The build makes the lists from the folders in web/views
// (py/tallow_build/page/bundle.mjs). What a class is, web/views/view.d.ts says.

/** By view. */
export const VIEWS: Record<string, new (root: HTMLElement, page: any) => any>;

/** The modules in texts/ of all views, by language. */
export const TEXTS: Record<
  "en" | "zh",
  { texts: Record<string, unknown>; page?: Record<string, string> }[]
>;

/** Import what a lazy view is made of, by view: when it is opened first. */
export const LATER: Record<
  string,
  () => Promise<{
    View: new (root: HTMLElement, page: any) => any;
    en: { texts: Record<string, unknown> };
    zh: { texts: Record<string, unknown>; page?: Record<string, string> };
    html: string;
    css: string;
  }>
>;
