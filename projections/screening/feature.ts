import * as screeningEvents from '../../domain/screening/events.ts';
import type { ProjectionFeature } from '../feature.ts';
import { screenings } from './screenings.ts';

export const screeningProjections: ProjectionFeature = {
  events: screeningEvents,
  readModels: [screenings],
};
