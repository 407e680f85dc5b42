// @ts-check
/**
 * Buffers that stay on the device between runs. Python chooses their ids. Freed buffers are pooled,
 * so that new ones of the same size can reuse them.
 */

import { DeviceError } from "./errors.js";

/** Limits of the pool: free buffers of one size, and the bytes of all free buffers. */
const MAX_FREE_PER_SIZE = 4;
const MAX_FREE_BYTES = 256 << 20;

export class Buffers {
  /** @param {import("./runner.js").Runner} runner */
  constructor(runner) {
    this.runner = runner;
    /** @type {Map<number, GPUBuffer>} */
    this.byId = new Map();
    /** The pool, by size. @type {Map<number, GPUBuffer[]>} */
    this.pool = new Map();
    this.poolBytes = 0;
    /** Numbers that identify buffers in cache keys. @type {WeakMap<GPUBuffer, number>} */
    this.serials = new WeakMap();
    this.lastSerial = 0;
  }

  /**
   * Get a buffer from the pool, or create one. Its contents are undefined.
   * @param {number} size  in bytes, a multiple of 16
   */
  allocate(size) {
    const free = this.pool.get(size)?.pop();
    if (free) {
      this.poolBytes -= size;
      return free;
    }
    const { STORAGE, COPY_DST, COPY_SRC } = GPUBufferUsage;
    const usage = STORAGE | COPY_DST | COPY_SRC;
    return this.runner.device.createBuffer({ size, usage, label: "array" });
  }

  /**
   * Give an id to a buffer from allocate().
   * @param {number} id
   * @param {GPUBuffer} buffer
   */
  register(id, buffer) {
    this.byId.set(id, buffer);
  }

  /** @param {number} id */
  get(id) {
    const buffer = this.byId.get(id);
    if (!buffer) throw new DeviceError(`there is no buffer ${id} on this device`);
    return buffer;
  }

  /**
   * Free a buffer. Work that was already submitted can still use it, because the queue runs in
   * order.
   * @param {number} id
   */
  free(id) {
    const buffer = this.byId.get(id);
    if (!buffer) return;
    this.byId.delete(id);
    const free = this.pool.get(buffer.size) ?? [];
    if (free.length < MAX_FREE_PER_SIZE && this.poolBytes + buffer.size <= MAX_FREE_BYTES) {
      this.poolBytes += buffer.size;
      this.pool.set(buffer.size, [...free, buffer]);
    } else buffer.destroy();
  }

  /**
   * Upload bytes into a new buffer.
   * @param {number} id
   * @param {Uint8Array} bytes  a multiple of 4
   */
  upload(id, bytes) {
    const buffer = this.allocate(bufferSize(bytes.byteLength));
    const { buffer: memory, byteOffset, byteLength } = bytes;
    this.runner.device.queue.writeBuffer(buffer, 0, memory, byteOffset, byteLength);
    this.register(id, buffer);
  }

  /**
   * Copy a buffer into a new one.
   * @param {number} id  of the new buffer
   * @param {number} sourceId
   */
  clone(id, sourceId) {
    const { device } = this.runner;
    const source = this.get(sourceId);
    const buffer = this.allocate(source.size);
    const encoder = device.createCommandEncoder({ label: "clone" });
    encoder.copyBufferToBuffer(source, 0, buffer, 0, source.size);
    device.queue.submit([encoder.finish()]);
    this.register(id, buffer);
  }

  /**
   * Read the first bytes of each buffer. Earlier runs that write to them are waited for.
   * @param {number[]} ids
   * @param {number[]} sizes  in bytes, multiples of 4
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
        let offset = 0;
        for (const [index, id] of ids.entries()) {
          encoder.copyBufferToBuffer(this.get(id), 0, staging, offset, sizes[index]);
          offset += sizes[index];
        }
        device.queue.submit([encoder.finish()]);
      });
      const mapped = /** @type {GPUBuffer} */ (/** @type {unknown} */ (staging));
      await runner.whileAlive(mapped.mapAsync(GPUMapMode.READ));
      runner.throwUncapturedError();
      const content = mapped.getMappedRange();
      let offset = 0;
      return sizes.map((size) => content.slice(offset, (offset += size)));
    } finally {
      staging?.destroy();
    }
  }

  /** A number that no other buffer has. @param {GPUBuffer} buffer */
  serialOf(buffer) {
    let serial = this.serials.get(buffer);
    if (!serial) this.serials.set(buffer, (serial = this.lastSerial += 1));
    return serial;
  }
}

/** The size of a buffer for some bytes: a multiple of 16, at least 16. @param {number} bytes */
export function bufferSize(bytes) {
  return Math.max(16, Math.ceil(bytes / 16) * 16);
}
