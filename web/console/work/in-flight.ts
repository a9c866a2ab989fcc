/**
 * Requests in flight. Two answers about one item can arrive in either order, so code that depends
 * on an answer waits for it here.
 */
let decisions: Promise<unknown> = Promise.resolve();
const claims = new Map<string, Promise<unknown>>();

/** Sends a decision, which counts as in flight from before its first step. */
export function trackDecision(send: () => Promise<void>): Promise<void> {
  let settle = () => {};
  const answered = new Promise<void>((resolve) => {
    settle = resolve;
  });
  decisions = Promise.allSettled([decisions, answered]);
  return send().finally(settle);
}

export function trackClaim(id: string, answer: Promise<unknown>): void {
  const settled = Promise.allSettled([claims.get(id), answer]).then(() => {
    if (claims.get(id) === settled) claims.delete(id);
  });
  claims.set(id, settled);
}

export const decisionsSettled = (): Promise<unknown> => decisions;

export const claimSettled = (id: string): Promise<unknown> | undefined => claims.get(id);
