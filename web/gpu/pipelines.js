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
  /** @type {Map<string, import("./program.js").Step>} */
  const wanted = new Map();
  for (const step of [...plan.prepare, ...plan.run]) {
    if (step.module >= 0) wanted.set(keyOf(step), step);
  }
  device.pushErrorScope("validation");
  const modules = plan.modules.map((code, index) =>
    device.createShaderModule({ code, label: `${plan.name} module ${index}` }),
  );
  device.popErrorScope().catch(() => {}); // the pipelines below tell of it, with their names
  let done = 0;
  onProgress(0, wanted.size);
  /** @param {[string, import("./program.js").Step]} entry @returns {Promise<[string, GPUComputePipeline]>} */
  const create = async ([key, step]) => {
    const module = modules[step.module];
    try {
      const text = `${plan.modules[step.module]}${JSON.stringify(step.constants)}`;
      const pipeline = await runner.pipeline(text, () =>
        device.createComputePipelineAsync({
          label: step.name,
          layout: "auto",
          compute: { module, entryPoint: "main", constants: step.constants },
        }),
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

/** Steps of one key share a pipeline. @param {import("./program.js").Step} step */
export function keyOf(step) {
  return `${step.module} ${JSON.stringify(step.constants)}`;
}
