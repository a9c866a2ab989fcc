/**
 * Requests in flight. Two answers about one item can arrive in either order, so code that depends
 * on an answer waits for it here.
 */
let decisions: Promise<unknown> = Promise.resolve();
const claims = new Map<string, Promise<unknown>>();

export function trackDecision(answer: Promise<unknown>): void {
  decisions = Promise.allSettled([decisions, answer]);
}

export function trackClaim(id: string, answer: Promise<unknown>): void {
  const settled = Promise.allSettled([claims.get(id), answer]).then(() => {
    if (claims.get(id) === settled) claims.delete(id);
  });
  claims.set(id, settled);
}

export const decisionsSettled = (): Promise<unknown> => decisions;

export const claimSettled = (id: string): Promise<unknown> | undefined => claims.get(id);
