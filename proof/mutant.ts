import { FAULTS, injectFault } from '../platform/fault.ts';

// Loaded before the service in each of its processes, which then has the fault that is named.
const chosen = FAULTS.find((name) => name === process.env.PROOF_MUTANT);
if (chosen) injectFault(chosen);
