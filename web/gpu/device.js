// @ts-check
/**
 * The GPU device: asked for with all that the adapter has, and what it says of itself.
 */

import { UNNAMED } from "../shared/adapter.js";
import { Said, words } from "../i18n/messages.js";

/**
 * @typedef {object} DeviceInfo
 * @property {string} name          the adapter's name for people, never empty
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

/** @param {GPUAdapterInfo} info */
function nameOf(info) {
  const said = info.description || info.device;
  const made = [info.vendor, info.architecture].filter(Boolean).join(" ");
  if (said && made) return `${said} (${made})`;
  return said || made || UNNAMED;
}

/**
 * Open a device on the best adapter.
 *
 * Rejects with a Said that tells why WebGPU can't be had.
 * @returns {Promise<{device: GPUDevice, info: DeviceInfo}>}
 */
export async function openDevice() {
  if (!navigator.gpu) {
    throw new Said(words(isSecureContext ? "noGpuHere" : "gpuNeedsHttps"));
  }
  const adapter = await navigator.gpu.requestAdapter({ powerPreference: "high-performance" });
  if (!adapter) throw new Said(words("noAdapter"));
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
    throw new Said(words("adapterRefused", message));
  }
  const { vendor = "", architecture = "", description = "" } = adapter.info ?? {};
  const name = nameOf(adapter.info ?? {});
  const software =
    adapter.info?.isFallbackAdapter === true ||
    /swiftshader|llvmpipe|lavapipe|basic render/i.test(name);
  const features = [...requiredFeatures];
  return {
    device,
    info: { name, vendor, architecture, description, software, features, limits },
  };
}
