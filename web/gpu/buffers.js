// @ts-check
/**
 * Buffers that stay on the device, by the numbers under which Python knows them; and memory that is
 * free, which the next ones take.
 */

import { DeviceError } from "./errors.js";

/** Free buffers that are kept for later: of one size, and bytes in all. */
const MAX_IDLE = 4;
const MAX_IDLE_BYTES = 256 << 20;

export class Buffers {
  /** @param {import("./runner.js").Runner} runner */
  constructor(runner) {
    this.runner = runner;
    /** @type {Map<number, GPUBuffer>} */
    this.held = new Map();
    /** Free ones by size. @type {Map<number, GPUBuffer[]>} */
    this.idle = new Map();
    this.idleBytes = 0;
    /** Distinguishes buffers in keys. @type {WeakMap<GPUBuffer, number>} */
    this.serials = new WeakMap();
    this.made = 0;
  }

  /**
   * A buffer with anything in it.
   * @param {number} bytes  a multiple of 16
   */
  take(bytes) {
    const free = this.idle.get(bytes)?.pop();
    if (free) {
      this.idleBytes -= bytes;
      return free;
    }
    const { STORAGE, COPY_DST, COPY_SRC } = GPUBufferUsage;
    const usage = STORAGE | COPY_DST | COPY_SRC;
    return this.runner.device.createBuffer({ size: bytes, usage, label: "array" });
  }

  /**
   * Keep a buffer from take() under a number.
   * @param {number} id
   * @param {GPUBuffer} buffer
   */
  hold(id, buffer) {
    this.held.set(id, buffer);
  }

  /** @param {number} id */
  get(id) {
    const buffer = this.held.get(id);
    if (!buffer) throw new DeviceError(`there is no buffer ${id} on this device`);
    return buffer;
  }

  /**
   * Free a buffer, for what is submitted from now on.
   * @param {number} id
   */
  free(id) {
    const buffer = this.held.get(id);
    if (!buffer) return;
    this.held.delete(id);
    const free = this.idle.get(buffer.size) ?? [];
    if (free.length < MAX_IDLE && this.idleBytes + buffer.size <= MAX_IDLE_BYTES) {
      this.idleBytes += buffer.size;
      this.idle.set(buffer.size, [...free, buffer]);
    } else buffer.destroy();
  }

  /**
   * Put bytes into a new buffer.
   * @param {number} id
   * @param {Uint8Array} bytes  whole words
   */
  upload(id, bytes) {
    const buffer = this.take(inSixteens(bytes.byteLength));
    const { buffer: memory, byteOffset, byteLength } = bytes;
    this.runner.device.queue.writeBuffer(buffer, 0, memory, byteOffset, byteLength);
    this.hold(id, buffer);
  }

  /**
   * Put what is in a buffer into a new one.
   * @param {number} id
   * @param {number} from
   */
  clone(id, from) {
    const { device } = this.runner;
    const source = this.get(from);
    const buffer = this.take(source.size);
    const encoder = device.createCommandEncoder({ label: "clone" });
    encoder.copyBufferToBuffer(source, 0, buffer, 0, source.size);
    device.queue.submit([encoder.finish()]);
    this.hold(id, buffer);
  }

  /**
   * The first bytes of each buffer, once they are computed.
   * @param {number[]} ids
   * @param {number[]} sizes  bytes, whole words
   * @returns {Promise<ArrayBuffer[]>}
   */
  async read(ids, sizes) {
    const { runner } = this;
    const { device } = runner;
    if (runner.lost) throw runner.lost;
    const total = sizes.reduce((sum, size) => sum + size, 0);
    /** @type {GPUBuffer | undefined} */
    let staging;
    try {
      await runner.checked("reading", () => {
        const encoder = device.createCommandEncoder({ label: "reading" });
        staging = device.createBuffer({
          size: Math.max(total, 16),
          usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST,
          label: "reading",
        });
        let at = 0;
        for (const [index, id] of ids.entries()) {
          encoder.copyBufferToBuffer(this.get(id), 0, staging, at, sizes[index]);
          at += sizes[index];
        }
        device.queue.submit([encoder.finish()]);
      });
      const mapped = /** @type {GPUBuffer} */ (/** @type {unknown} */ (staging));
      await runner.whileAlive(mapped.mapAsync(GPUMapMode.READ));
      runner.throwFailure();
      const content = mapped.getMappedRange();
      let at = 0;
      return sizes.map((size) => content.slice(at, (at += size)));
    } finally {
      staging?.destroy();
    }
  }

  /** A number of the buffer's own. @param {GPUBuffer} buffer */
  serial(buffer) {
    let serial = this.serials.get(buffer);
    if (!serial) this.serials.set(buffer, (serial = this.made += 1));
    return serial;
  }
}

/** Bytes of a buffer that holds so many. @param {number} bytes */
export function inSixteens(bytes) {
  return Math.max(16, Math.ceil(bytes / 16) * 16);
}
