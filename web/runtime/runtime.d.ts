// What the build makes in this place in dist/ (py/tallow_build/dist.py). For the type check only.

declare const told: unknown;
export default told;
