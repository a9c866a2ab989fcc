import type pg from 'pg';
import { z } from 'zod';
import { presentReads, type Reads } from '../../../platform/postgres/reads.ts';
import type { PastMoment } from '../../../projections/past/moment.ts';
import type { PastRefusal, PastScope, ReadPast } from '../../../projections/past/past-reads.ts';

const Time = z.iso.datetime({ offset: true });
const SHAPE = /^(?:[1-9]\d{0,15}|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d))$/;
const error =
  'must be a time with its zone, such as 2026-09-12T08:30:00.000Z, or a position of the log';

/** A time with its zone, or a position of the log. */
export const AsOf = z
  .string()
  .max(40)
  .regex(SHAPE, { error, abort: true })
  .refine((text) => isPosition(text) || Time.safeParse(text).success, { error })
  .meta({ examples: ['2026-09-12T08:30:00.000Z'] });

/** Of a text of that shape: whether it is a position. */
const isPosition = (text: string): boolean => !text.includes('T');

/** Reads a checked `as_of`. Times are exact to the millisecond, as those of events are. */
function toMoment(asOf: string): PastMoment {
  return isPosition(asOf) ? { position: Number(asOf) } : { time: new Date(asOf) };
}

/** Runs `read` with the reads of the moment that was asked for, or of now. */
export const readAsOf = <Result>(
  { pool, readPast }: { pool: pg.Pool; readPast: ReadPast },
  asOf: string | undefined,
  scope: PastScope,
  read: (reads: Reads) => Promise<Result>,
  gone: AbortSignal,
): Promise<Result | PastRefusal> =>
  asOf === undefined ? read(presentReads(pool)) : readPast(toMoment(asOf), scope, read, gone);
