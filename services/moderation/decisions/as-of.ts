import { z } from 'zod';
import type { PastMoment } from '../../../projections/past/moment.ts';

const Time = z.iso.datetime({ offset: true });
const POSITION = /^[1-9]\d{0,15}$/;

const SHAPE = /^(?:[1-9]\d{0,15}|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d))$/;
const error =
  'must be a time with its zone, such as 2026-09-12T08:30:00.000Z, or a position of the log';

/** A time with its zone, or a position of the log. */
export const AsOf = z
  .string()
  .max(40)
  .regex(SHAPE, { error, abort: true })
  .refine((text) => POSITION.test(text) || Time.safeParse(text).success, { error })
  .meta({ examples: ['2026-09-12T08:30:00.000Z'] });

/** Reads a checked `as_of`. Times are exact to the millisecond, as those of events are. */
export function toMoment(asOf: string): PastMoment {
  return POSITION.test(asOf) ? { position: Number(asOf) } : { time: new Date(asOf) };
}
