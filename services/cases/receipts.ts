import type { WordsElsewhere } from '../../platform/eventstore/erasure.ts';
import { type Sql, sql } from '../../platform/sql.ts';

interface ReceiptKey {
  owner_id: string;
  space: string;
  key: string;
}

/**
 * A member's case texts in other members' receipts, because those receipts hold the whole case. A
 * case in an erased receipt reads like an erased case.
 */
export const CASE_WORDS: WordsElsewhere<ReceiptKey> = {
  find: (authorId, limit) => sql`SELECT owner_id, space, key FROM receipts
    WHERE operation LIKE 'case.%' AND reply->'case'->>'author_id' = ${authorId}
      AND reply->'case'->>'title' <> '' LIMIT ${limit}`,
  erase: (owner, receipts) => sql`UPDATE receipts
    SET reply = jsonb_set(reply::jsonb, '{case}', reply::jsonb->'case' ||
      '{"title": "", "summary": "", "objective": "", "acceptance_criteria": []}')
    WHERE owner_id = ${owner} AND (space, key) IN (
      SELECT * FROM unnest(${spaces(receipts)}::text[], ${keys(receipts)}::uuid[]))`,
};

/** A member's submissions in such receipts. */
export const SUBMISSION_WORDS: WordsElsewhere<ReceiptKey> = {
  find: (memberId, limit): Sql<ReceiptKey> => sql`SELECT owner_id, space, key FROM receipts
    WHERE operation LIKE 'case.%' AND reply->'case'->'submission'->>'member_id' = ${memberId}
      AND reply->'case'->'submission'->>'summary' IS NOT NULL LIMIT ${limit}`,
  erase: (owner, receipts) => sql`UPDATE receipts
    SET reply = jsonb_set(reply::jsonb, '{case,submission,summary}', 'null')
    WHERE owner_id = ${owner} AND (space, key) IN (
      SELECT * FROM unnest(${spaces(receipts)}::text[], ${keys(receipts)}::uuid[]))`,
};

const spaces = (receipts: readonly ReceiptKey[]) => receipts.map(({ space }) => space);
const keys = (receipts: readonly ReceiptKey[]) => receipts.map(({ key }) => key);
