// @ts-check
/** The pipelines of a plan. */

import { DeviceError } from "./errors.js";

/**
 * Every pipeline of a plan, by module and constants; all are made at once.
 * @param {import("./runner.js").Runner} runner
 * @param {import("./program.js").Plan} plan
 * @param {(done: number, total: number) => void} onProgress
 * @returns {Promise<Map<string, GPUComputePipeline>>}
 */
export async function compile(runner, plan, onProgress) {
  const { device } = runner;
  const wanted = stepsOf(plan);
  device.pushErrorScope("validation");
  const modules = modulesOf(runner, plan);
  device.popErrorScope().catch(() => {}); // the pipelines below tell of it, with their names
  let done = 0;
  onProgress(0, wanted.size);
  /** @param {[string, import("./program.js").Computing]} entry @returns {Promise<[string, GPUComputePipeline]>} */
  const create = async ([key, step]) => {
    const module = modules[step.kernel.module];
    try {
      const pipeline = await runner.pipeline(textOf(plan, step), () =>
        device.createComputePipelineAsync(descriptorOf(step, module)),
      );
      onProgress(++done, wanted.size);
      return [key, pipeline];
    } catch (error) {
      const { messages } = await module.getCompilationInfo();
      const said = messages.map(({ lineNum, message }) => `line ${lineNum}: ${message}`);
      const { message } = /** @type {Error} */ (error);
      throw new DeviceError(
        `${plan.name}: the step ${step.name}: ${[message, ...said].join("; ")}`,
      );
    }
  };
  const pipelines = await runner.whileAlive(Promise.all([...wanted].map(create)));
  return new Map(pipelines);
}

/**
 * The same, without waiting: an error is told of by the device when nobody waits for it.
 * @param {import("./runner.js").Runner} runner
 * @param {import("./program.js").Plan} plan
 * @returns {Map<string, GPUComputePipeline>}
 */
export function compileNow(runner, plan) {
  const modules = modulesOf(runner, plan);
  const made = new Map();
  for (const [key, step] of stepsOf(plan)) {
    const make = () =>
      runner.device.createComputePipeline(descriptorOf(step, modules[step.kernel.module]));
    made.set(key, runner.pipelineNow(textOf(plan, step), make));
  }
  return made;
}

/** A step for each pipeline that is needed, by key. @param {import("./program.js").Plan} plan */
function stepsOf(plan) {
  /** @type {Map<string, import("./program.js").Computing>} */
  const wanted = new Map();
  for (const step of [...plan.prepare, ...plan.run]) {
    if (computes(step)) wanted.set(keyOf(step), step);
  }
  return wanted;
}

/**
 * @param {import("./runner.js").Runner} runner
 * @param {import("./program.js").Plan} plan
 */
function modulesOf({ device }, plan) {
  return plan.modules.map((code, index) =>
    device.createShaderModule({ code, label: `${plan.name} module ${index}` }),
  );
}

/**
 * What tells a pipeline from every other on the device.
 * @param {import("./program.js").Plan} plan
 * @param {import("./program.js").Computing} step
 */
function textOf(plan, step) {
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
 * Whether a step has a kernel; one whose result is empty has none.
 * @param {import("./program.js").Step} step
 * @returns {step is import("./program.js").Computing}
 */
export function computes(step) {
  return "module" in step.kernel;
}

/** Steps of one key share a pipeline. @param {import("./program.js").Computing} step */
export function keyOf(step) {
  return `${step.kernel.module} ${JSON.stringify(step.kernel.constants)}`;
}
