// The worker's sides of the views, by view. The build makes the list from the folders in web/views
// (py/tallow_build/page/bundle.mjs).

declare const workers: Record<
  string,
  (services: any) => Record<string, (args: any, context: any) => unknown>
>;
export default workers;
