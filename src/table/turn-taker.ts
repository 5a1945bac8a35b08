/** Lets actions run one after the other, in the order in which they asked. */

export class TurnTaker {
  #last: Promise<unknown> = Promise.resolve();

  async take<T>(action: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(action);
    // The next one's turn comes also when this one fails; the failure is its caller's.
    this.#last = turn.catch(() => undefined);
    return await turn;
  }
}
