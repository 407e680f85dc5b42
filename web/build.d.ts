// What the bundler puts in the place of a module (py/tallow_build/bundle.mjs). For the type check only.

declare module "tallow:runtime" {
  const runtime: unknown;
  export default runtime;
}
