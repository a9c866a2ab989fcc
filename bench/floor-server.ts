import { readFileSync } from 'node:fs';
import express from 'express';
import pg from 'pg';

// The floor (baseline) of the guestbook benchmarks: a minimal Express server.
// Arguments: port, database URL, file with the bytes to answer.
const [port = '', url = '', file = ''] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: url, max: 10 });
await pool.query('CREATE TABLE notes (id uuid PRIMARY KEY, name text, message text)');
const bytes = readFileSync(file);

const app = express();
app.get('/livez', (_req, res) => {
  res.end();
});
app.get('/api/guestbook', (_req, res) => {
  res.type('json').send(bytes);
});
app.post('/api/guestbook', express.json(), async (req, res) => {
  const { id, name, message } = req.body as Record<string, string>;
  await pool.query({
    name: 'insert',
    text: 'INSERT INTO notes (id, name, message) VALUES ($1, $2, $3)',
    values: [id, name, message],
  });
  res.status(202).json({ status: 'pending_review', id });
});
const server = app.listen(Number(port), '127.0.0.1');

process.once('SIGTERM', () => {
  server.close(() => void pool.end());
  server.closeAllConnections();
});
