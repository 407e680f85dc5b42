// @ts-check
/** Opens the GPU device, with the features and limits that Tallow uses, and describes it. */

import { DeviceUnavailableError } from "./errors.js";

/**
 * @typedef {object} DeviceInfo
 * @property {string} name          for people, never empty
 * @property {boolean} named        whether the adapter reports a name; in Firefox none does
 * @property {string} vendor
 * @property {string} architecture
 * @property {string} description
 * @property {boolean} software     whether the adapter runs on the CPU
 * @property {string[]} features    WebGPU's names of the optional features that are enabled
 * @property {Record<string, number>} limits
 */

/** Optional features that kernels or profiles use if available. @type {GPUFeatureName[]} */
const FEATURES = ["shader-f16", "subgroups", "timestamp-query"];

/** Limits to raise to the adapter's own. */
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
  const model = info.description || info.device;
  const family = [info.vendor, info.architecture].filter(Boolean).join(" ");
  if (model && family) return `${model} (${family})`;
  return model || family;
}

/**
 * Open a device on the adapter with the highest performance.
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
  const reportedName = nameOf(adapter.info ?? {});
  // Tuning records are stored under this name: if it changes, they are lost.
  const name = reportedName || "WebGPU adapter that does not tell its name";
  const software =
    adapter.info?.isFallbackAdapter === true ||
    /swiftshader|llvmpipe|lavapipe|basic render/i.test(name);
  const features = [...requiredFeatures];
  return {
    device,
    info: {
      name,
      named: Boolean(reportedName),
      vendor,
      architecture,
      description,
      software,
      features,
      limits,
    },
  };
}
