// @ts-check
/**
 * Asks questions when only the latest one matters. While one question is being answered, another
 * one can wait; a newer question replaces the waiting one. Answers arrive in the order of their
 * questions.
 */

/**
 * @template Question, Answer
 */
export class Latest {
  #ask;
  #show;
  #fail;
  /** @type {Question | undefined} */
  #waiting;
  #busy = false;
  /** Counts the calls of forget(). */
  #era = 0;

  /**
   * @param {(question: Question) => Promise<Answer>} ask
   * @param {(answer: Answer, question: Question) => void} show
   * @param {(error: Error, question: Question) => void} fail
   */
  constructor(ask, show, fail) {
    this.#ask = ask;
    this.#show = show;
    this.#fail = fail;
  }

  /** Whether a newer question waits. */
  get waiting() {
    return this.#waiting !== undefined;
  }

  /** @param {Question} question */
  ask(question) {
    this.#waiting = question;
    if (!this.#busy) void this.#work();
  }

  /** Ignore the answers to all questions so far. */
  forget() {
    this.#era += 1;
    this.#waiting = undefined;
  }

  async #work() {
    this.#busy = true;
    while (this.#waiting !== undefined) {
      const question = this.#waiting;
      const era = this.#era;
      this.#waiting = undefined;
      try {
        const answer = await this.#ask(question);
        if (era === this.#era) this.#show(answer, question);
      } catch (error) {
        if (era === this.#era) this.#fail(/** @type {Error} */ (error), question);
      }
    }
    this.#busy = false;
  }
}
