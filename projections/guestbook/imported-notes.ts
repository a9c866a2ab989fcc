import * as events from '../../domain/guestbook/events.ts';
import type { ImportSource } from '../../domain/guestbook/words.ts';
import { defineInsert } from '../../platform/postgres/batch-statements.ts';
import { locking, named, type Sql, sql } from '../../platform/sql.ts';
import { defineProjection } from '../projection.ts';
import type { NoteRow } from './notes.ts';

// Without a key, because the table has a further unique index.
const insertImported = defineInsert('imported_notes', {
  note_id: 'uuid',
  import_id: 'uuid',
  source: 'text',
  source_key: 'text',
  imported_at: 'timestamptz',
});

/** Which notes were imported, and by which import: a comment is imported once until that is undone. */
export const importedNotes = defineProjection(events, {
  name: 'imported-notes',
  tables: ['imported_notes'],
  on: {
    NoteSubmitted: ({ data: { note_id, imported }, recorded_at }) =>
      imported
        ? insertImported({
            note_id,
            import_id: imported.import_id,
            source: imported.source,
            source_key: imported.source_key,
            imported_at: recorded_at,
          })
        : [],
    NoteErased: ({ data: { note_id, cause } }) =>
      cause === 'import_undone' ? sql`DELETE FROM imported_notes WHERE note_id = ${note_id}` : [],
  },
});

export interface ImportedNoteRow
  extends Pick<NoteRow, 'note_id' | 'state' | 'parent_id' | 'experience'> {
  source_key: string;
}

/** Finds the notes that were made of these comments. `locked` keeps their states until the transaction ends. */
export function findImported(
  sourceKeys: readonly string[],
  { locked = false } = {},
): Sql<ImportedNoteRow> {
  const statement = named<ImportedNoteRow>(
    `SELECT i.source_key, n.note_id, n.state, n.parent_id, n.experience
    FROM imported_notes i JOIN notes n ON n.note_id = i.note_id
    WHERE i.source_key = ANY($1::text[])${locked ? ' ORDER BY n.note_id FOR SHARE OF n' : ''}`,
    [sourceKeys],
  );
  return locked ? locking(statement) : statement;
}

/** Reads a batch of the notes of an import. */
export function notesOfImport(importId: string, limit: number): Sql<Pick<NoteRow, 'note_id'>> {
  return sql`SELECT note_id FROM imported_notes WHERE import_id = ${importId}
    ORDER BY note_id LIMIT ${limit}`;
}

/** An import of which notes are left. */
export interface ImportRow {
  import_id: string;
  source: ImportSource;
  notes: number;
  first_at: Date;
  last_at: Date;
}

/** Lists the imports that were not undone, the oldest first. */
export function listImports(): Sql<ImportRow> {
  return named(`SELECT import_id, min(source) AS source, count(*)::int AS notes,
      min(imported_at) AS first_at, max(imported_at) AS last_at
    FROM imported_notes GROUP BY import_id ORDER BY first_at, import_id`);
}
