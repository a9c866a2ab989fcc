import type pg from 'pg';
import { dropExpiredChallenges } from '../../services/passkeys/challenges.ts';
import { BATCH_SIZE, drainBatches } from '../running/batches.ts';

/** Deletes challenges that were not answered in time. Returns how many. */
export const sweepChallenges = ({ pool }: { pool: pg.Pool }): Promise<number> =>
  drainBatches(pool, () => dropExpiredChallenges(BATCH_SIZE));
