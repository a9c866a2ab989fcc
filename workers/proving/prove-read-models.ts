import type { Logger } from 'pino';
import { databaseUrl } from '../../platform/embedded/postgres.ts';
import { query } from '../../platform/postgres/query.ts';
import { proveReadModels } from '../../projections/rebuild/prove.ts';
import type { Core } from '../../services/compose.ts';
import { catalogue, projections } from '../../services/features.ts';
import { recordProof } from '../../services/proving/last-proof.ts';

/** Rows that a run logs; `npm run verify -- --live` names all. */
const MAX_LOGGED = 20;

/** Compares every read model with the log, and records the result. */
export async function proveAndRecord(
  { config, pool }: Pick<Core, 'config' | 'pool'>,
  _data: unknown,
  logger: Logger,
  ending?: AbortSignal,
): Promise<unknown> {
  const startedAt = new Date();
  let logged = 0;
  const proof = await proveReadModels(
    config.databaseDirectUrl ?? databaseUrl(config),
    catalogue,
    projections,
    {
      found(difference) {
        if (logged++ < MAX_LOGGED) logger.warn({ difference }, 'read model differs from the log');
      },
      ...(ending ? { interrupted: ending } : {}),
    },
  );
  await query(pool, recordProof(startedAt, proof));
  const { divergent, tables } = proof;
  const alert =
    divergent === 0
      ? null
      : `${divergent} rows of ${tables.join(', ')} differ from the log: npm run verify -- --live`;
  return { ...proof, alert };
}
