// @ts-check
/** Compiles the pipelines of a plan. */

import { DeviceError, KernelError } from "./errors.js";

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
    const { module: index, constants } = step.kernel;
    const module = modules[index];
    try {
      const pipeline = await runner.pipeline(cacheKey(plan.modules[index], constants), () =>
        device.createComputePipelineAsync(descriptorOf(module, constants, step.name)),
      );
      onProgress(++done, steps.size);
      return [key, pipeline];
    } catch (error) {
      const { messages } = await module.getCompilationInfo();
      if (step.kernel.op) throw kernelError(plan, step, messages, /** @type {Error} */ (error));
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
 * The same without waiting. The device reports errors as uncaptured ones, but those of users' ops in
 * `failure`, which is there if the plan has such kernels.
 * @param {import("./runner.js").Runner} runner
 * @param {import("./program.js").Plan} plan
 * @returns {{pipelines: Map<string, GPUComputePipeline>,
 *   failure: Promise<KernelError | undefined> | undefined}}
 */
export function compileNow(runner, plan) {
  const { device } = runner;
  const steps = stepPerPipeline(plan);
  const own = new Set(
    [...steps.values()].flatMap(({ kernel }) => (kernel.op ? kernel.module : [])),
  );
  /** @type {Map<number, GPUShaderModule>} */
  const modules = new Map();
  const moduleOf = (/** @type {number} */ index) => {
    const module = modules.get(index) ?? createModule(runner, plan, index);
    modules.set(index, module);
    return module;
  };
  const pipelines = new Map();
  /** @type {Promise<KernelError | undefined>[]} */
  const failures = [];
  for (const [key, step] of steps) {
    const { module: index, constants } = step.kernel;
    if (!own.has(index)) {
      const create = () =>
        device.createComputePipeline(descriptorOf(moduleOf(index), constants, step.name));
      pipelines.set(key, runner.pipelineNow(cacheKey(plan.modules[index], constants), create));
      continue;
    }
    // Not from the cache: an invalid pipeline may be there.
    device.pushErrorScope("validation");
    const module = createModule(runner, plan, index);
    pipelines.set(key, device.createComputePipeline(descriptorOf(module, constants, step.name)));
    const compiling = Promise.all([device.popErrorScope(), module.getCompilationInfo()]);
    const failure = compiling.then(([error, { messages }]) =>
      error ? kernelError(plan, step, messages, error) : undefined,
    );
    failures.push(failure.catch(() => undefined)); // it rejects with a lost device
  }
  const failure = Promise.all(failures).then((found) => found.find(Boolean));
  return { pipelines, failure: failures.length ? failure : undefined };
}

/**
 * The error for the WGSL of a user's op, with its first wrong line.
 * @param {import("./program.js").Plan} plan
 * @param {import("./program.js").Computing} step
 * @param {readonly GPUCompilationMessage[]} messages
 * @param {{message: string}} error  of the pipeline
 */
function kernelError(plan, step, messages, error) {
  const op = step.kernel.op ?? step.name;
  const first = messages.find(({ type }) => type === "error");
  const line = first?.lineNum ?? 0;
  const source = plan.modules[step.kernel.module].split("\n")[line - 1]?.trim();
  const where = line ? `, line ${line}` : "";
  const shown = source ? `\n    ${source}` : "";
  return new KernelError(
    `the WGSL of ${op}${where}: ${first?.message ?? error.message}${shown}`,
    op,
    line,
  );
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
function createModules(runner, plan) {
  return plan.modules.map((_, index) => createModule(runner, plan, index));
}

/**
 * @param {import("./runner.js").Runner} runner
 * @param {import("./program.js").Plan} plan
 * @param {number} index
 */
function createModule({ device }, plan, index) {
  const label = `${plan.name} module ${index}`;
  return device.createShaderModule({ code: plan.modules[index], label });
}

/**
 * Identifies a pipeline among those of all programs on the device.
 * @param {string} code
 * @param {Record<string, number>} constants
 */
export function cacheKey(code, constants) {
  return `${code}${JSON.stringify(constants)}`;
}

/**
 * @param {GPUShaderModule} module
 * @param {Record<string, number>} constants
 * @param {string} [label]
 * @returns {GPUComputePipelineDescriptor}
 */
export function descriptorOf(module, constants, label = "") {
  return { label, layout: "auto", compute: { module, entryPoint: "main", constants } };
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
