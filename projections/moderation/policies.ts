import * as events from '../../domain/moderation/events.ts';
import { defineRead } from '../../platform/postgres/batch-statements.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import { defineProjection } from '../projection.ts';

/** Policies in force until someone changes them, in the order of the console's keys. */
const DEFAULTS = [
  [
    'spam',
    'Spam',
    'Advertising, repeated or automated posting, or links placed to promote something.',
  ],
  [
    'abuse',
    'Abuse',
    'Insults, threats, harassment, or contempt for people because of who they are.',
  ],
  [
    'personal_data',
    'Personal data',
    'Addresses, numbers or other details of a person who has not chosen to publish them.',
  ],
  [
    'illegal',
    'Illegal',
    'Content that may not lawfully be published, or that helps to break the law.',
  ],
  ['off_topic', 'Off topic', 'Does not belong to this guestbook.'],
  ['other', 'Other', 'Another reason, which the message to the author explains.'],
] as const;

/**
 * Policies that a rejection or a removal may name. The migration inserts the same rows as the seed.
 */
export const policies = defineProjection(events, {
  name: 'policies',
  tables: ['policies'],
  seed: DEFAULTS.map(
    ([code, title, text], index) =>
      sql`INSERT INTO policies (code, place, title, text, active, version)
        VALUES (${code}, ${index + 1}, ${title}, ${text}, true, 1)`,
  ),
  keepLost: sql`UPDATE rebuild.policies p
    SET title = present.title, text = present.text, messages = present.messages
    FROM public.policies present WHERE present.code = p.code AND present.version = p.version
      AND p.title IS NULL AND present.title IS NOT NULL RETURNING 'policy ' || p.code AS kept`,
  on: {
    PolicyChanged: ({ data, personal, recorded_at }) =>
      sql`INSERT INTO policies (code, title, text, active, version, added_at, messages)
        VALUES (${data.code}, ${personal?.title ?? null}, ${personal?.text ?? null},
          ${data.active}, ${data.version}, ${recorded_at}, ${personal?.messages ?? []}::text[])
        ON CONFLICT (code) DO UPDATE SET title = excluded.title, text = excluded.text,
          active = excluded.active, version = excluded.version, messages = excluded.messages`,
  },
});

export interface PolicyRow {
  code: string;
  title: string | null;
  text: string | null;
  active: boolean;
  version: number;
  /** Prepared messages to authors. */
  messages: readonly string[];
}

export function allPolicies(): Sql<PolicyRow> {
  return sql`SELECT code, title, text, active, version, messages FROM policies
    ORDER BY place NULLS LAST, added_at, code`;
}

const policyByCode = defineRead<PolicyRow>(
  { code: 'text' },
  ({ code }) => `SELECT code, title, text, active, version, messages FROM policies
    WHERE code = ${code}`,
);

export const findPolicy = (code: string): Sql<PolicyRow> => policyByCode({ code });
