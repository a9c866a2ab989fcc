import { type Sql, sql } from '../../platform/sql.ts';

/**
 * What a member said in cases goes from the receipts that others have of commands on them, since
 * those answer the whole case; what is left reads as an erased case does. At most `limit` rows of
 * each statement; one row answered for each.
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
