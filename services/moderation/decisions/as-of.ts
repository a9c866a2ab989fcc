import { z } from 'zod';
import type { PastMoment } from '../../../projections/past/moment.ts';

/** A time with its zone, or a position of the log. */
export const AsOf = z
  .union([z.iso.datetime({ offset: true }).max(40), z.string().regex(/^[1-9]\d{0,15}$/)], {
    error:
      'must be a time with its zone, such as 2026-09-12T08:30:00.000Z, or a position of the log',
  })
  .meta({
    override: { type: 'string', maxLength: 40, examples: ['2026-09-12T08:30:00.000Z'] },
  });

/** Reads a checked `as_of`. Times are exact to the millisecond, as those of events are. */
export function toMoment(asOf: string): PastMoment {
  return /^\d+$/.test(asOf) ? { position: Number(asOf) } : { time: new Date(asOf) };
}
