import { generateKeyPairSync } from 'node:crypto';
import t from 'tap';
import { formatCheckpoint, parseCheckpoint } from '../../../platform/tlog/checkpoint.ts';
import {
  consistencyProof,
  EMPTY_ROOT,
  inclusionProof,
  isConsistent,
  isIncluded,
  leafHash,
  nodeHash,
  rootOf,
} from '../../../platform/tlog/merkle.ts';
import {
  openNote,
  parseVerifier,
  signingKey,
  signNote,
  verifierText,
} from '../../../platform/tlog/note.ts';
import {
  nodeReader,
  parseTilePath,
  type TilePlace,
  tilePath,
} from '../../../platform/tlog/tiles.ts';
import { createTreeEdge } from '../../../platform/tlog/tree-edge.ts';

/** The hash of a list of leaves, as RFC 6962 defines it. */
function treeHash(leaves: readonly Buffer[]): Buffer {
  if (leaves.length === 0) return EMPTY_ROOT;
  if (leaves.length === 1) return leafHash(leaves[0] as Buffer);
  const split = 2 ** Math.floor(Math.log2(leaves.length - 1));
  return nodeHash(treeHash(leaves.slice(0, split)), treeHash(leaves.slice(split)));
}

const newLeaves = (count: number) =>
  Array.from({ length: count }, (_, index) => Buffer.from(`leaf ${index}`));

/** Builds a tree in steps, each from the tiles that the steps before have stored. */
function createTiles(leaves: readonly Buffer[], sizes: readonly number[]) {
  const stored = new Map<string, Buffer>();
  let size = 0;
  let root = EMPTY_ROOT;
  for (const end of sizes) {
    const tiles = [...stored].map(([key, hashes]) => {
      const [level = 0, index = 0] = key.split('/').map(Number);
      return { level, index, hashes };
    });
    const edge = createTreeEdge(size, tiles);
    edge.append(leaves.slice(size, end).map(leafHash));
    for (const { level, index, hashes } of edge.takeChanged())
      stored.set(`${level}/${index}`, hashes);
    size = end;
    root = edge.root();
  }
  const read = (of: number) =>
    nodeReader(async ({ level, index, width }: TilePlace) => {
      const tile = stored.get(`${level}/${index}`);
      if (!tile || tile.length < 32 * width)
        throw new Error(`no tile ${level}/${index} of ${width}`);
      return tile;
    }, of);
  return { root, read };
}

t.test(
  'hashes the trees of RFC 6962 as the test vectors of Certificate Transparency',
  async (t) => {
    const inputs = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657'];
    const leaves = [...inputs, '606162636465666768696a6b6c6d6e6f'].map((hex) =>
      Buffer.from(hex, 'hex'),
    );
    const roots = [1, 2, 3, 8].map((size) => createTiles(leaves, [size]).root.toString('hex'));
    t.same(roots, [
      '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
      'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
      'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
      '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
    ]);
  },
);

t.test('a tree that grows in steps has the root of the definition, at every size', async (t) => {
  const leaves = newLeaves(66_100);
  for (const sizes of [
    [1, 2, 3, 5, 255, 256, 257, 511, 512, 700],
    [255, 1000, 65_535, 65_536, 65_537, 66_100],
  ]) {
    const last = sizes.at(-1) ?? 0;
    const { root, read } = createTiles(leaves, sizes);
    t.ok(root.equals(treeHash(leaves.slice(0, last))), `${last} leaves`);
    for (const size of sizes)
      t.ok(
        (await rootOf(read(last), size)).equals(treeHash(leaves.slice(0, size))),
        `${size} of ${last}`,
      );
  }
});

t.test('proofs verify, and those of another leaf, size or root do not', async (t) => {
  const leaves = newLeaves(600);
  for (const size of [1, 2, 3, 7, 8, 255, 256, 257, 600]) {
    const { root, read } = createTiles(leaves, [size]);
    for (const leaf of new Set(
      [0, 1, Math.floor(size / 2), size - 1].filter((one) => one < size),
    )) {
      const hash = leafHash(leaves[leaf] as Buffer);
      const proof = await inclusionProof(read(size), leaf, size);
      t.ok(isIncluded(leaf, size, hash, proof, root), `leaf ${leaf} of ${size}`);
      t.notOk(isIncluded(leaf, size, leafHash(Buffer.from('other')), proof, root));
      t.notOk(isIncluded(leaf, size, hash, [...proof, root], root));
      if (size > 1) t.notOk(isIncluded((leaf + 1) % size, size, hash, proof, root));
    }
    for (const older of new Set([0, 1, 2, 5, 128, 255, 256, size].filter((one) => one <= size))) {
      const before = { size: older, root: treeHash(leaves.slice(0, older)) };
      const proof = await consistencyProof(read(size), older, size);
      t.ok(isConsistent(before, { size, root }, proof), `${older} of ${size}`);
      const fork = {
        size: older,
        root: treeHash([Buffer.from('fork'), ...leaves.slice(1, older)]),
      };
      if (older > 0) t.notOk(isConsistent(fork, { size, root }, proof), `fork at ${older}`);
    }
  }
});

t.test('a path of a tile has one spelling', async (t) => {
  const places = [
    { level: 0, index: 0, width: 256 },
    { level: 1, index: 67, width: 5 },
    { level: 0, index: 1067, width: 256 },
    { level: 63, index: 1_234_067, width: 255 },
  ];
  t.same(places.map(tilePath), [
    'tile/0/000',
    'tile/1/067.p/5',
    'tile/0/x001/067',
    'tile/63/x001/x234/067.p/255',
  ]);
  for (const place of places) t.same(parseTilePath(tilePath(place).slice('tile/'.length)), place);
  const others = ['0/0', '0/00', '0/x000/067', '00/000', '64/000', '-1/000', '0/067.p/0'];
  const malformed = [
    '0/067.p/256',
    '0/067.p/05',
    '0/067.p',
    '0/x067',
    '0/1000',
    '0/067/',
    '/0/067',
  ];
  for (const path of [...others, ...malformed, '0/x1/067', '0/x001/67', 'entries/000'])
    t.equal(parseTilePath(path), undefined, path);
});

t.test('a note opens with the keys that signed it alone', async (t) => {
  const seed = Buffer.alloc(32, 7);
  const [key, second] = [signingKey(seed), generateKeyPairSync('ed25519').privateKey];
  const [verifier, other] = [key, second].map((one) =>
    parseVerifier(verifierText('example.org/log/1', one)),
  );
  if (!verifier || !other) throw new Error('no verifier');
  const text = 'example.org/log/1\n3\nAAAA\n';
  const note = signNote(text, 'example.org/log/1', [key]);
  t.equal(openNote(note, [verifier]), text);
  t.equal(openNote(note, [other]), undefined, 'a key that has not signed');
  t.equal(openNote(note.replace('\n3\n', '\n4\n'), [verifier]), undefined, 'another text');
  const both = signNote(text, 'example.org/log/1', [second, key]);
  t.equal(openNote(both, [verifier]), text, 'while keys are rotated');
  t.equal(openNote(both, [other]), text);
  const wrong = `${note}${note.split('\n\n')[1]?.replace(/.{6}\n$/, 'AAAA==\n')}`;
  t.equal(openNote(wrong, [verifier]), undefined, 'one wrong signature of a known key');
  for (const broken of ['', '\n\n', text, `${note}x`, note.slice(0, -1)])
    t.equal(openNote(broken, [verifier]), undefined);
});

t.test('reads the checkpoints that it writes, and no others', async (t) => {
  const checkpoint = { origin: 'a.example/log', size: 12, root: EMPTY_ROOT, extensions: ['more'] };
  const text = formatCheckpoint(checkpoint);
  t.same(parseCheckpoint(text), checkpoint);
  const malformed = [text.slice(0, -1), text.replace('12', '012'), text.replace('12', '-1')];
  const others = [text.replace('12', '9'.repeat(16)), text.replace('=\n', '\n'), `${text}\n`];
  for (const one of [...malformed, ...others, '', 'a\n']) t.equal(parseCheckpoint(one), undefined);
});
