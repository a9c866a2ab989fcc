/** Calls `act` once `signal` is aborted, at once if it is already. */
export function whenAborted(signal: AbortSignal, act: () => void): void {
  if (signal.aborted) act();
  else signal.addEventListener('abort', act, { once: true });
}
