// @ts-check
/** Compiles the pipelines of a plan. */

import { DeviceError } from "./errors.js";

/**
 * Compile all pipelines of a plan in parallel.
 * @param {import("./runner.js").Runner} runner
 * @param {import("./program.js").Plan} plan
 * @param {(done: number, total: number) => void} onProgress
 * @returns {Promise<Map<string, GPUComputePipeline>>}  by pipelineKey()
 */
export async function compile(runner, plan, onProgress) {
  const { device } = runner;
  const steps = stepPerPipeline(plan);
  device.pushErrorScope("validation");
  const modules = createModules(runner, plan);
  // Ignored: creating the pipelines below fails too, and that error names the step.
  device.popErrorScope().catch(() => {});
  let done = 0;
  onProgress(0, steps.size);
  /**
   * @param {[string, import("./program.js").Computing]} entry
   * @returns {Promise<[string, GPUComputePipeline]>}
   */
  const create = async ([key, step]) => {
    const module = modules[step.kernel.module];
    try {
      const pipeline = await runner.pipeline(cacheKey(plan, step), () =>
        device.createComputePipelineAsync(descriptorOf(step, module)),
      );
      onProgress(++done, steps.size);
      return [key, pipeline];
    } catch (error) {
      const { messages } = await module.getCompilationInfo();
      const lines = messages.map(({ lineNum, message }) => `line ${lineNum}: ${message}`);
      const { message } = /** @type {Error} */ (error);
      throw new DeviceError(
        `${plan.name}: the step ${step.name}: ${[message, ...lines].join("; ")}`,
      );
    }
  };
  const pipelines = await runner.whileAlive(Promise.all([...steps].map(create)));
  return new Map(pipelines);
}

/**
 * The same without waiting. The device reports errors as uncaptured ones.
 * @param {import("./runner.js").Runner} runner
 * @param {import("./program.js").Plan} plan
 * @returns {Map<string, GPUComputePipeline>}
 */
export function compileNow(runner, plan) {
  const modules = createModules(runner, plan);
  const pipelines = new Map();
  for (const [key, step] of stepPerPipeline(plan)) {
    const create = () =>
      runner.device.createComputePipeline(descriptorOf(step, modules[step.kernel.module]));
    pipelines.set(key, runner.pipelineNow(cacheKey(plan, step), create));
  }
  return pipelines;
}

/**
 * One step for each pipeline of a plan, by pipelineKey().
 * @param {import("./program.js").Plan} plan
 */
function stepPerPipeline(plan) {
  /** @type {Map<string, import("./program.js").Computing>} */
  const steps = new Map();
  for (const step of [...plan.prepare, ...plan.run]) {
    if (computes(step)) steps.set(pipelineKey(step), step);
  }
  return steps;
}

/**
 * @param {import("./runner.js").Runner} runner
 * @param {import("./program.js").Plan} plan
 */
function createModules({ device }, plan) {
  return plan.modules.map((code, index) =>
    device.createShaderModule({ code, label: `${plan.name} module ${index}` }),
  );
}

/**
 * Identifies a pipeline among those of all programs on the device.
 * @param {import("./program.js").Plan} plan
 * @param {import("./program.js").Computing} step
 */
function cacheKey(plan, step) {
  return `${plan.modules[step.kernel.module]}${JSON.stringify(step.kernel.constants)}`;
}

/**
 * @param {import("./program.js").Computing} step
 * @param {GPUShaderModule} module
 * @returns {GPUComputePipelineDescriptor}
 */
function descriptorOf(step, module) {
  return {
    label: step.name,
    layout: "auto",
    compute: { module, entryPoint: "main", constants: step.kernel.constants },
  };
}

/**
 * Whether a step has a kernel. A step with an empty result has none.
 * @param {import("./program.js").Step} step
 * @returns {step is import("./program.js").Computing}
 */
export function computes(step) {
  return "module" in step.kernel;
}

/** Identifies a pipeline within its plan. @param {import("./program.js").Computing} step */
export function pipelineKey(step) {
  return `${step.kernel.module} ${JSON.stringify(step.kernel.constants)}`;
}
