// @ts-check
/**
 * The GPU device: asked for with all that the adapter has, and what it says of itself.
 */

import { DeviceUnavailableError } from "./errors.js";

/**
 * @typedef {object} DeviceInfo
 * @property {string} name          the adapter's name for people, never empty
 * @property {boolean} named      whether the adapter tells a name; Firefox's tell none
 * @property {string} vendor
 * @property {string} architecture
 * @property {string} description
 * @property {boolean} software     whether a CPU plays the GPU
 * @property {string[]} features    WebGPU's names of the optional features that are on
 * @property {Record<string, number>} limits
 */

/** Features that kernels or measurements use where the adapter has them. @type {GPUFeatureName[]} */
const FEATURES = ["shader-f16", "subgroups", "timestamp-query"];

/** Limits that are asked for as high as the adapter has them. */
const LIMITS = [
  "maxBufferSize",
  "maxStorageBufferBindingSize",
  "maxStorageBuffersPerShaderStage",
  "maxComputeWorkgroupStorageSize",
  "maxComputeInvocationsPerWorkgroup",
  "maxComputeWorkgroupSizeX",
  "maxComputeWorkgroupSizeY",
  "maxComputeWorkgroupsPerDimension",
];

/** @param {Partial<GPUAdapterInfo>} info @returns {string}  may be empty */
function nameOf(info) {
  const said = info.description || info.device;
  const made = [info.vendor, info.architecture].filter(Boolean).join(" ");
  if (said && made) return `${said} (${made})`;
  return said || made;
}

/**
 * Open a device on the best adapter.
 *
 * @returns {Promise<{device: GPUDevice, info: DeviceInfo}>}
 * @throws {DeviceUnavailableError}
 */
export async function openDevice() {
  if (!navigator.gpu) {
    if (isSecureContext) {
      throw new DeviceUnavailableError("NO_WEBGPU", "This browser has no WebGPU.");
    }
    const remedy = "WebGPU needs a secure page: https, or an address of this computer.";
    throw new DeviceUnavailableError("INSECURE_PAGE", remedy);
  }
  const adapter = await navigator.gpu.requestAdapter({ powerPreference: "high-performance" });
  if (!adapter) {
    const why = "This browser has WebGPU, but found no adapter for it.";
    throw new DeviceUnavailableError("NO_ADAPTER", why);
  }
  const requiredFeatures = FEATURES.filter((feature) => adapter.features.has(feature));
  /** @type {Record<string, number>} */
  const limits = {};
  for (const name of LIMITS) {
    const value = /** @type {any} */ (adapter.limits)[name];
    if (value !== undefined) limits[name] = value;
  }
  let device;
  try {
    device = await adapter.requestDevice({ requiredFeatures, requiredLimits: limits });
  } catch (error) {
    const { message } = /** @type {Error} */ (error);
    const what = `The WebGPU adapter refused to open a device: ${message}`;
    throw new DeviceUnavailableError("ADAPTER_REFUSED", what, message);
  }
  const { vendor = "", architecture = "", description = "" } = adapter.info ?? {};
  const own = nameOf(adapter.info ?? {});
  const name = own || "WebGPU adapter that does not tell its name";
  const software =
    adapter.info?.isFallbackAdapter === true ||
    /swiftshader|llvmpipe|lavapipe|basic render/i.test(name);
  const features = [...requiredFeatures];
  return {
    device,
    info: {
      name,
      named: Boolean(own),
      vendor,
      architecture,
      description,
      software,
      features,
      limits,
    },
  };
}
