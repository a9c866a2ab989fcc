/** SQL that inserts approved notes of other authors; one in a thousand says "A pin". */
export const insertNotesOfOthers = (
  count: number,
) => `INSERT INTO notes (note_id, owner_id, member_id, experience,
    attribution, name, message, state, version, submitted_at, approved_at, settled_at)
  SELECT gen_random_uuid(), a.id, CASE WHEN n % 2 = 0 THEN a.id END, 'service',
    CASE WHEN n % 2 = 0 THEN 'member' ELSE 'guest' END, 'Other',
    CASE WHEN n % 1000 = 7 THEN 'A pin' ELSE 'What others say' END, 'approved', 2, at, at, at
  FROM generate_series(1, ${count}) n, LATERAL (SELECT gen_random_uuid() AS id) a,
    LATERAL (SELECT now() - n * interval '1 second' AS at) moment`;
