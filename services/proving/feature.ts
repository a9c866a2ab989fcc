import * as provingEvents from '../../domain/proving/events.ts';
import { proveReadModels } from '../../domain/proving/jobs.ts';
import type { Feature } from '../feature.ts';

/** The proof, while the service runs, that its read models follow from the log. */
export const provingFeature: Feature<unknown> = {
  events: provingEvents,
  jobs: [proveReadModels],
};
