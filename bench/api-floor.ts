import express from 'express';
import pg from 'pg';

// The floor (baseline) of the API benchmarks: a minimal Express server on the same tables.
// Arguments: port, database URL, member id.
const [port = '', url = '', member = ''] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: url, max: 10 });
const app = express();

app.get('/livez', (_req, res) => {
  res.end();
});
app.get('/api/v1/me', async (_req, res) => {
  const { rows } = await pool.query({
    name: 'me',
    text: 'SELECT member_id, handle, state, registered_at FROM members WHERE member_id = $1',
    values: [member],
  });
  res.json({ status: 'ok', member: rows[0] });
});
app.get('/api/v1/updates', async (req, res) => {
  const { rows } = await pool.query({
    name: 'updates',
    text: `SELECT event_id, sequence, type, occurred_at, subject_type, subject_id, actor, data
      FROM feed WHERE member_id = $1 AND sequence > $2 ORDER BY sequence LIMIT $3`,
    values: [member, req.query.after, 100],
  });
  res.json({ status: 'ok', events: rows });
});
app.post('/api/v1/write', express.json(), async (req, res) => {
  const { credential_id: id, scopes, expires_at: end } = req.body as Record<string, unknown>;
  await pool.query({
    name: 'insert',
    text: `INSERT INTO floor (id, scopes, expires_at) VALUES ($1, $2, to_timestamp($3))`,
    values: [id, scopes, end],
  });
  res.status(201).json({ status: 'created', id });
});
app.post('/api/moderation/claims', async (req, res) => {
  const { rows } = await pool.query({
    name: 'claim',
    text: `UPDATE floor_queue SET lease_id = gen_random_uuid(), leased_by = $1,
        leased_until = now() + interval '5 minutes'
      WHERE id = (SELECT id FROM floor_queue WHERE lease_id IS NULL
        ORDER BY submitted_at, id LIMIT 1 FOR UPDATE SKIP LOCKED)
      RETURNING lease_id, id AS note_id, leased_until AS expires_at`,
    values: [req.headers.authorization],
  });
  res.json({ status: 'ok', claims: rows });
});
app.post('/api/moderation/claims/release', express.json(), async (req, res) => {
  const { lease_ids: ids } = req.body as { lease_ids: string[] };
  await pool.query({
    name: 'release',
    text: 'UPDATE floor_queue SET lease_id = NULL WHERE lease_id = ANY($1::uuid[])',
    values: [ids],
  });
  res.json({ status: 'ok', released: ids });
});
await pool.query(
  `CREATE TABLE IF NOT EXISTS floor_queue (id uuid PRIMARY KEY, submitted_at timestamptz, lease_id uuid UNIQUE,
    leased_by text, leased_until timestamptz)`,
);
await pool.query(
  `CREATE INDEX IF NOT EXISTS floor_queue_free ON floor_queue (submitted_at, id) WHERE lease_id IS NULL`,
);
await pool.query(
  `INSERT INTO floor_queue (id, submitted_at) SELECT gen_random_uuid(), now() - make_interval(secs => n)
    FROM generate_series(1, 10000) n`,
);
await pool.query(
  'CREATE TABLE IF NOT EXISTS floor (id uuid PRIMARY KEY, scopes text[], expires_at timestamptz)',
);
const server = app.listen(Number(port), '127.0.0.1');

process.once('SIGTERM', () => {
  server.close(() => void pool.end());
  server.closeAllConnections();
});
