/** An answer that a page got, in the order of their arrival. */
export interface PageAnswer {
  status: number;
  url: string;
  /** Equal for a request and its repeats: method, address, idempotency key and body. */
  request: string;
}

/** A line that the browser's console reports. */
export interface ConsoleFault {
  text: string;
  /** The address that it is about. */
  url: string;
}

/**
 * The faults without the answers 503 after which the page repeated the same request and was served: a service on a
 * busy machine may refuse at any time, and the browser reports each such answer.
 */
export function withoutRetried(
  faults: readonly ConsoleFault[],
  answers: readonly PageAnswer[],
): ConsoleFault[] {
  const retried = answers.filter(
    ({ status, request }, at) =>
      status === 503 &&
      answers.slice(at + 1).some((later) => later.request === request && later.status < 400),
  );
  return faults.filter(({ text, url }) => {
    const at = /status of 503/.test(text) ? retried.findIndex((answer) => answer.url === url) : -1;
    if (at >= 0) retried.splice(at, 1);
    return at < 0;
  });
}
