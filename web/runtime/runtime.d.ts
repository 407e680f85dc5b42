// Stands for the module that the build makes here in dist/ (py/tallow_build/page/dist.py), for the
// type check.

declare const listed: unknown;
export default listed;
