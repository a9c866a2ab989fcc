/** Faults that the proof injects to show that its checker detects them. */
export const FAULTS = [
  'no-lock',
  'no-receipt',
  'plain-sequence',
  'no-capacity-lock',
  'no-second-proof',
  'no-sync-wait',
  'no-epoch',
  'no-read-your-writes',
  'skip-sealed',
  'early-checkpoint',
  'wrong-row',
  'keep-salt',
] as const;

export type Fault = (typeof FAULTS)[number];

const INJECTED = Symbol.for('injected fault');
const state = globalThis as { [INJECTED]?: Fault };

/** Whether a fault is injected. Only the proof injects faults, before it loads the service. */
export const fault = (name: Fault): boolean => state[INJECTED] === name;

/** Injects one fault into this process. Only the proof calls it. */
export function injectFault(name: Fault): void {
  state[INJECTED] = name;
}
