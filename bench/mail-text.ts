/** Converts a mail to a plausible note: its plain text, cut to `most` characters. */
export function noteFromMail(mail: string, most = 500): string {
  const { headers, body } = split(mail.replaceAll('\r\n', '\n'));
  const text = textOf(headers, body)
    .replaceAll('\0', '')
    .replace(/[ \t]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
  return Array.from(text).slice(0, most).join('').toWellFormed();
}

interface Part {
  headers: string;
  body: string;
}

function split(part: string): Part {
  const end = part.indexOf('\n\n');
  return end < 0
    ? { headers: part, body: '' }
    : { headers: part.slice(0, end).replace(/\n[ \t]+/g, ' '), body: part.slice(end + 2) };
}

const header = (headers: string, name: string) =>
  new RegExp(`^${name}:(.*)$`, 'im').exec(headers)?.[1]?.trim() ?? '';

function textOf(headers: string, body: string, depth = 0): string {
  const type = header(headers, 'content-type').toLowerCase();
  const [, quoted, bare] =
    /boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(header(headers, 'content-type')) ?? [];
  const boundary = quoted ?? bare;
  if (type.startsWith('multipart/') && boundary && depth < 4) {
    const parts = body
      .split(`--${boundary}`)
      .slice(1)
      .map((part) => split(part.replace(/^\n/, '')));
    const texts = parts.map((part) => textOf(part.headers, part.body, depth + 1).trim());
    return texts.find(Boolean) ?? '';
  }
  if (type && !type.startsWith('text/')) return '';
  const decoded = decode(body, header(headers, 'content-transfer-encoding').toLowerCase());
  return type.startsWith('text/html') || /<(?:html|body|table|font)\b/i.test(decoded)
    ? plain(decoded)
    : decoded;
}

function decode(body: string, encoding: string): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString('latin1');
  if (encoding !== 'quoted-printable') return body;
  return body
    .replace(/=\n/g, '')
    .replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

const ENTITIES: Record<string, string> = { nbsp: ' ', amp: '&', lt: '<', gt: '>', quot: '"' };

function plain(html: string): string {
  return html
    .replace(/<(style|script|title)\b[\s\S]*?<\/\1>/gi, ' ')
    .replace(/<!--[\s\S]*?-->/g, '')
    .replace(/<(?:br|p|div|tr|li|h\d)\b[^>]*>/gi, '\n')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&#(\d{1,6});/g, (_, code: string) => String.fromCodePoint(Number(code) % 0x110000))
    .replace(/&([a-z]+);/gi, (all, name: string) => ENTITIES[name.toLowerCase()] ?? all);
}
