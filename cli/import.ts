import { access, constants } from 'node:fs/promises';
import { validate } from 'uuid';
import { EXPERIENCES, IMPORT_SOURCES } from '../domain/guestbook/words.ts';
import { DECIDERS } from '../domain/moderation/roles.ts';
import { ArgumentError, processArguments } from '../platform/command-line/arguments.ts';
import { failureLine } from '../platform/command-line/failure.ts';
import { handle } from '../platform/eventstore/handle.ts';
import { query } from '../platform/postgres/query.ts';
import { asJob } from '../platform/postgres/request-deadline.ts';
import { listImports, notesOfImport } from '../projections/guestbook/imported-notes.ts';
import { findModerators } from '../projections/moderation/moderators.ts';
import type { Core } from '../services/compose.ts';
import { undoImportCommand } from '../services/imports/undo-import.ts';
import { createReport } from './import/report.ts';
import { runImport } from './import/run-import.ts';
import { withStorage } from './moderator/storage.ts';
import { printable } from './moderator/terminal.ts';

const USAGE = `Usage:
  npm run import -- --from ${IMPORT_SOURCES.join('|')} FILE [--site NAME] [--thread PAGE]
      [--experience ${EXPERIENCES.join('|')}] [--reviewed-by MODERATOR] [--dry-run]
  npm run import -- --list
  npm run import -- --undo IMPORT_ID

Imports the comments of another program as notes of guests, with the times at which they were written. They
wait for review, unless --reviewed-by names the active moderator or lead who has reviewed them. Running a file
again adds only what is missing. --site tells two sites of one program apart, --thread takes the comments of one
page. --dry-run writes nothing. --undo withdraws and erases all notes of an import. See
docs/operating/arrive-and-leave.md.
`;

/** Notes that one transaction withdraws and erases: each has three streams with words. */
const UNDO_BATCH = 25;

const {
  positionals: [file],
  values,
} = processArguments(
  USAGE,
  {
    from: { type: 'string' },
    site: { type: 'string', default: '' },
    thread: { type: 'string' },
    experience: { type: 'string', default: 'service' },
    'reviewed-by': { type: 'string' },
    'dry-run': { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    undo: { type: 'string' },
  },
  [0, 1],
  ({ positionals: [path], values: { from, list, undo, experience } }) => {
    if ([from !== undefined, list, undo !== undefined].filter(Boolean).length !== 1)
      throw new ArgumentError('Give one of --from, --list and --undo.');
    if ((from !== undefined) !== (path !== undefined))
      throw new ArgumentError('--from takes one file, and only --from takes one.');
    if (from !== undefined && !IMPORT_SOURCES.some((known) => known === from))
      throw new ArgumentError(`--from must be one of ${IMPORT_SOURCES.join(', ')}.`);
    if (!EXPERIENCES.some((known) => known === experience))
      throw new ArgumentError(`--experience must be one of ${EXPERIENCES.join(', ')}.`);
    if (undo !== undefined && !validate(undo))
      throw new ArgumentError('--undo needs the id of an import, as --list prints it.');
  },
);

const say = (line: string) => process.stdout.write(`${line}\n`);

// The reader of the output, such as `head`, has closed the pipe.
process.stdout.on('error', () => process.exit(1));
try {
  if (file !== undefined) await requireReadable(file);
  await withStorage(async (core) => {
    if (values.list) return list(core);
    return values.undo === undefined ? importFile(core) : undo(core, values.undo.toLowerCase());
  }, 'service import');
} catch (error) {
  process.stderr.write(printable(failureLine(error).trimEnd()));
  process.stderr.write('\n');
  process.exitCode = 1;
}

async function requireReadable(path: string): Promise<void> {
  await access(path, constants.R_OK).catch(({ code }: NodeJS.ErrnoException) => {
    throw new Error(`Cannot read ${path}: ${code}`);
  });
}

async function importFile(core: Core): Promise<void> {
  const source = IMPORT_SOURCES.find((known) => known === values.from);
  const experience = EXPERIENCES.find((known) => known === values.experience);
  if (!source || !experience || file === undefined) return;
  const reviewer = values['reviewed-by'];
  const dryRun = values['dry-run'];
  const reviewedBy = reviewer === undefined ? null : await reviewerCalled(core, reviewer);
  const report = createReport((line) => process.stdout.write(line));
  const options = { source, experience, path: file, site: values.site, thread: values.thread };
  const id = await runImport(core, { ...options, reviewedBy, dryRun }, report);
  const count = (result: string) => report.results.get(result) ?? 0;
  say(dryRun ? `Import ${id} would do this, and has written nothing:` : `Import ${id}:`);
  say(`  waiting for review: ${count('pending')}`);
  say(`  published as reviewed: ${count('approved')}`);
  for (const line of report.summary()) say(line);
  if (!dryRun && count('pending') + count('approved') > 0)
    process.stderr.write(`To undo it: npm run import -- --undo ${id}\n`);
}

/** The id of the only active moderator with this name or id whose role may approve notes. */
async function reviewerCalled({ pool }: Core, name: string): Promise<string> {
  const found = await query(pool, findModerators(name));
  const [reviewer] = found;
  if (!reviewer) throw new Error(`There is no active moderator called ${name}`);
  if (found.length > 1) throw new Error(`Several active moderators are called ${name}: give an id`);
  if (!DECIDERS.includes(reviewer.role))
    throw new Error(`${name} may not approve notes: the role is ${reviewer.role}`);
  return reviewer.moderator_id;
}

async function list({ pool }: Core): Promise<void> {
  for (const row of await query(pool, listImports()))
    say([row.import_id, row.source, row.notes, row.first_at.toISOString()].join('\t'));
}

async function undo({ pool, store }: Core, importId: string): Promise<void> {
  let undone = 0;
  for (;;) {
    const ids = (await query(pool, notesOfImport(importId, UNDO_BATCH))).map(
      ({ note_id }) => note_id,
    );
    if (ids.length === 0) break;
    undone += await asJob(() => handle(store, { type: 'operator' }, undoImportCommand(ids)));
  }
  if (undone === 0) throw new Error(`No note of import ${importId} is here`);
  say(`Withdrew and erased ${undone} notes`);
}
