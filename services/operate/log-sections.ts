import { readMigrations } from '../../platform/postgres/migrate.ts';
import { lastProof } from '../proving/last-proof.ts';
import { cosignedCheckpoint, newestTree, unsealedAfter } from '../seal/tree-store.ts';
import { witnessStates } from '../seal/witnesses.ts';
import { ageSeconds, type Context } from './context.ts';
import { counted, type Section } from './report.ts';
import {
  epoch,
  largestStream,
  migrations,
  newestEvent,
  programs,
  server,
  streamEstimate,
  tableSizes,
} from './statements.ts';

const DAY_SECONDS = 86_400;
/** A daily proof that is older than two days was missed. */
const PROOF_SECONDS = 2 * DAY_SECONDS;
/** As the alert ServiceSealLate. */
const SEAL_SECONDS = 600;
const MAX_COUNTED_EVENTS = 99_999;

/** The log and the tables beside it, which no rebuild makes again. */
const PRIMARY_TABLES = ['events', 'receipts'];
/** The kind and the id of a stream; nothing else is shown. */
const STREAM = /^[a-z_-]{1,40}-[0-9a-f-]{36}$/;

export async function databaseSection({ read }: Context): Promise<Section> {
  const [db] = await read(server());
  const running = await read(programs());
  const applied = await read(migrations());
  const files = readMigrations().map(({ name }) => name);
  const names = new Set(applied.map(({ name }) => name));
  const pending = files.filter((name) => !names.has(name)).length;
  const newer = applied.filter(({ name }) => !files.includes(name)).length;
  const newest = applied.at(-1);
  return {
    name: 'database',
    title: 'Database and processes',
    facts: [
      ['postgresql', 'PostgreSQL', db?.version ?? null],
      ['postgresql_started_at', 'PostgreSQL started', db?.started_at ?? null],
      ['connections', 'Connections of all programs', db?.connections ?? null],
      ['connection_limit', 'Limit of connections', db?.max_connections ?? null],
      ['migration', 'Newest migration', newest?.name ?? null],
      ['migrated_at', 'Applied', newest?.applied_at ?? null],
      ['pending_migrations', 'Migrations of this release that are missing', pending],
      ['newer_migrations', 'Migrations that this release does not have', newer],
      ['citus', 'Citus', db?.citus ?? null],
      ['synchronous', 'Commits wait for a standby', db?.synchronous ?? null],
      ['standbys', 'Servers that follow', db?.sees_standbys ? db.standbys : null],
    ],
    tables: [
      {
        name: 'processes',
        title: 'Connections of web and worker',
        columns: [
          ['process', 'Process'],
          ['listening', 'Listening processes'],
          ['connections', 'Connections'],
          ['since', 'The oldest'],
        ],
        rows: running.map(({ name, listening, connections, since }) => [
          name,
          listening,
          connections,
          since,
        ]),
      },
    ],
    warnings: [
      ...(db?.standby ? ['The database is a standby, which takes no writes.'] : []),
      ...(pending > 0 ? [`${pending} migrations are missing: npm run release.`] : []),
      ...(running.some(({ name }) => name === 'worker') ? [] : ['No worker is connected.']),
    ],
    hints: db?.sees_standbys
      ? []
      : [
          'Which servers follow is visible to a role with pg_monitor, which this process does not need.',
        ],
  };
}

export async function logSection({ read }: Context): Promise<Section> {
  const sizes = await read(tableSizes(PRIMARY_TABLES));
  const log = sizes.find(({ name }) => name === 'events');
  const [newest] = await read(newestEvent());
  const [began] = await read(epoch());
  const [estimate] = await read(streamEstimate());
  const [largest] = await read(largestStream(log?.bytes ?? 0));
  const events = log?.rows ?? 0;
  // The planner notes a share of the rows where it expects the number to grow with them.
  const distinct = estimate?.distinct_streams ?? 0;
  const streams = distinct < 0 ? -distinct * events : distinct;
  return {
    name: 'log',
    title: 'Streams and events',
    facts: [
      ['events', 'Events', { about: Math.round(events) }],
      ['streams', 'Streams', estimate ? { about: Math.round(streams) } : null],
      ['position', 'Newest position', newest?.position ?? 0],
      ['recorded_at', 'Newest event', newest?.recorded_at ?? null],
      ['epoch', 'Epoch', began ? { id: began.epoch } : null],
      ['epoch_began_at', 'Began', began?.began_at ?? null],
      ['bytes', 'Log with its indexes', { bytes: log?.bytes ?? 0 }],
      [
        'receipts_bytes',
        'Receipts with their indexes',
        { bytes: sizes.find(({ name }) => name === 'receipts')?.bytes ?? 0 },
      ],
      ['partitions', 'Partitions of the log', log?.partitions ?? 0],
      [
        'largest_stream',
        'Largest stream of a sample',
        largest && STREAM.test(largest.stream_id) ? largest.stream_id : null,
      ],
      ['largest_stream_events', 'Events of it', largest?.events ?? null],
    ],
    hints: [
      'The sample is 4 MB of the log, the same each time; a smaller log is looked at as a whole.',
    ],
  };
}

export async function readModelsSection(context: Context): Promise<Section> {
  const { read, readModels } = context;
  const rows = await read(tableSizes(readModels));
  const [proof] = await read(lastProof());
  const age = ageSeconds(context, proof?.proven_at);
  const late = proof !== undefined && (age === null || age > PROOF_SECONDS);
  return {
    name: 'read_models',
    title: 'Read models',
    facts: [
      ['proven_at', 'Last found equal to the log', proof?.proven_at ?? null],
      ['checked_at', 'Last compared', proof?.checked_at ?? null],
      ['divergent_rows', 'Rows that differed', proof?.divergent ?? null],
      ['divergent_tables', 'In the tables', proof?.tables.join(', ') || null],
    ],
    tables: [
      {
        name: 'tables',
        title: 'Tables',
        columns: [
          ['table', 'Table'],
          ['rows', 'Rows'],
          ['dead_rows', 'Dead rows'],
          ['bytes', 'Size'],
        ],
        rows: rows.map((table) => [
          table.name,
          { about: Math.round(table.rows) },
          { about: Math.round(table.dead) },
          { bytes: table.bytes },
        ]),
      },
    ],
    warnings: [
      ...(proof && proof.divergent > 0
        ? [`${proof.divergent} rows of read models differ from the log: npm run verify -- --live.`]
        : []),
      ...(late ? ['The read models were not found equal to the log for two days.'] : []),
    ],
    hints: proof
      ? []
      : ['They have not been compared yet: VERIFY_AT, or npm run verify -- --live.'],
  };
}

export async function sealSection({ read, config }: Context): Promise<Section> {
  const [tree] = await read(newestTree());
  const [progress] = tree ? await read(unsealedAfter(tree.position)) : [];
  const [checkpoint] = await read(cosignedCheckpoint());
  if (!tree || !progress || !checkpoint)
    return { name: 'seal', title: 'Sealed log', facts: [['sealed', 'Sealed', false]] };
  const witnesses = witnessStates(config.logWitnesses, checkpoint);
  const missing = witnesses.filter((witness) => witness.missing);
  return {
    name: 'seal',
    title: 'Sealed log',
    facts: [
      ['sealed', 'Sealed', true],
      ['origin', 'Origin', tree.origin],
      ['position', 'Newest sealed position', tree.position],
      ['size', 'Events in the tree', tree.size],
      ['signed_at', 'Newest checkpoint', tree.signed_at],
      ['waiting', 'Events that wait', counted(progress.waiting, MAX_COUNTED_EVENTS)],
      ['lag_seconds', 'Age of the oldest of them', { seconds: progress.seconds }],
      ['refused', 'Nothing is signed', tree.refusal !== null],
      ['keys', 'Ids of its keys', tree.verifiers.map((key) => key.split('+')[1]).join(', ')],
      ['missing_witnesses', 'Witnesses that did not sign', checkpoint.missing],
    ],
    tables:
      witnesses.length === 0
        ? []
        : [
            {
              name: 'witnesses',
              title: 'Witnesses of LOG_WITNESSES',
              columns: [
                ['witness', 'Witness'],
                ['signed', 'Signed the public checkpoint'],
                ['cosigned_at', 'Last co-signed'],
              ],
              rows: witnesses.map((witness) => [
                witness.name,
                !witness.missing,
                witness.cosignedAt,
              ]),
            },
          ],
    warnings: [
      ...(tree.refusal === null
        ? []
        : ['Log and tree contradict each other, and nothing is signed: npm run verify -- --seal.']),
      ...(progress.seconds > SEAL_SECONDS
        ? ['Events have waited to be sealed for ten minutes.']
        : []),
      ...missing.map(({ name }) => `The witness ${name} has not signed the public checkpoint.`),
    ],
  };
}
