import { type Sql, sql } from '../../platform/sql.ts';

/**
 * Erases a member's case texts from other members' receipts, because those receipts hold the whole
 * case. A case in an erased receipt reads like an erased case. Each statement updates at most
 * `limit` rows and returns one row per update.
 */
export function eraseInReceipts(memberId: string, limit: number): readonly [Sql, Sql] {
  return [eraseCases(memberId, limit), eraseSubmissions(memberId, limit)];
}

function eraseCases(authorId: string, limit: number): Sql {
  return sql`UPDATE receipts SET reply = jsonb_set(reply::jsonb, '{case}', reply::jsonb->'case' ||
      '{"title": "", "summary": "", "objective": "", "acceptance_criteria": []}')
    WHERE (owner_id, space, key) IN (SELECT owner_id, space, key FROM receipts
      WHERE operation LIKE 'case.%' AND reply->'case'->>'author_id' = ${authorId}
        AND reply->'case'->>'title' <> '' LIMIT ${limit}) RETURNING 1`;
}

function eraseSubmissions(memberId: string, limit: number): Sql {
  return sql`UPDATE receipts SET reply = jsonb_set(reply::jsonb, '{case,submission,summary}', 'null')
    WHERE (owner_id, space, key) IN (SELECT owner_id, space, key FROM receipts
      WHERE operation LIKE 'case.%' AND reply->'case'->'submission'->>'member_id' = ${memberId}
        AND reply->'case'->'submission'->>'summary' IS NOT NULL LIMIT ${limit}) RETURNING 1`;
}
