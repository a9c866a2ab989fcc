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
await pool.query(
  'CREATE TABLE IF NOT EXISTS floor (id uuid PRIMARY KEY, scopes text[], expires_at timestamptz)',
);
const server = app.listen(Number(port), '127.0.0.1');

process.once('SIGTERM', () => {
  server.close(() => void pool.end());
  server.closeAllConnections();
});
