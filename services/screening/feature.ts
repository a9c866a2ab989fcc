import * as screeningEvents from '../../domain/screening/events.ts';
import { screenings } from '../../projections/screening/screenings.ts';
import type { Feature } from '../feature.ts';

export const screeningFeature: Feature<object> = {
  events: screeningEvents,
  readModels: [screenings],
};
