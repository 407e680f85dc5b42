// What the address needs to know of the views (web/views/NAME/view.json), in the order of the menu.
// The build makes the list from the folders (py/tallow_build/page/bundle.mjs).

declare const views: Record<string, { model: string | null; files?: string[] }>;
export default views;
