import { connect } from 'node:net';

/**
 * What these bytes are answered, as text, until the server closes the connection; `fetch` would mend
 * them.
 */
export async function raw(baseUrl: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  let text = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk) => {
    text += chunk;
  });
  const closed = new Promise<void>((resolve, reject) => {
    socket.on('close', () => resolve());
    socket.on('error', reject);
  });
  socket.write(bytes);
  await closed;
  return text;
}

/** A request as it stands on the wire; its connection is closed after the answer. */
export function wire(
  method: string,
  target: string,
  headers: readonly string[],
  body = '',
): string {
  const all = ['host: localhost', 'connection: close', ...headers];
  if (body)
    all.push('content-type: application/json', `content-length: ${Buffer.byteLength(body)}`);
  return `${method} ${target} HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n${body}`;
}
