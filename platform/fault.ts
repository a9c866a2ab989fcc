/** Faults that the proof injects, to show that its checker finds them. */
export const FAULTS = [
  'no-lock',
  'no-receipt',
  'plain-sequence',
  'no-capacity-lock',
  'no-second-proof',
] as const;

export type Fault = (typeof FAULTS)[number];

const INJECTED = Symbol.for('injected fault');
const state = globalThis as { [INJECTED]?: Fault };

/** Whether a fault is injected. False everywhere but in the proof, which injects before the service loads. */
export const fault = (name: Fault): boolean => state[INJECTED] === name;

/** Called by the proof alone. */
export function injectFault(name: Fault): void {
  state[INJECTED] = name;
}
