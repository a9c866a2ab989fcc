import t from 'tap';
import { readMigrations } from '../../platform/postgres/migrate.ts';

/**
 * Every migration that a database may have, with the beginning of its checksum. A change of one, even of
 * its comments, makes each of these databases refuse to start; what a later release needs is a new file.
 */
const RELEASED: Readonly<Record<string, string>> = {
  '0001-schema': 'df525e8ede8fc360',
  '0002-case-members': '88a03ab5ddaac27e',
  '0003-claim-times': '9ba213741e796071',
  '0004-ended-sessions': '8c4f7900c6d2b38c',
  '0005-audit-filters': '3589422422842d5a',
  '0006-search-words': '00425a91a0d1c830',
  '0007-protected-log': '1e1da22e12dae5f2',
  '0009-ending-members': '514bca970fe01ee3',
  '0010-note-addresses': 'caac3b9b323c9843',
  '0011-public-again': '0284a6fff4ce801e',
  '0012-ending-large-accounts': 'a8bfbe9834319dac',
  '0013-decision-figures': 'c1ac5743d267531d',
  '0014-told-answers': '8b4104765f7bac72',
  '0015-ended-verifiers': '9322cc1fe47fa1ff',
  '0016-disabled-members': '98bd94d4a93de5f9',
  '0017-note-corrections': '38599048de326dba',
  '0018-listed-authors': 'cd3739b759cff45b',
  '0019-long-streams': '72fecf36df449504',
  '0021-rewinds': 'd45d97072435364c',
  '0022-moderation-weeks': '9bf914f562e7382f',
  '0023-notices': '02ccf21c14a7bdcd',
  '0024-bounded-reads': '4d90c8ac95fc0f90',
  '0028-passkeys': '3a95ccb8b7293781',
  '0029-sealed-log': 'c39db05677ad82c4',
  '0031-decided-notes': '1ff77117138bf4d4',
  '0032-cases-of-member': '222c77b338bb26a3',
  '0033-saved-views': '57b174ae6888028c',
  '0034-sandbox': '1f090263dc225851',
  '0035-record-leaves': '041a5bb3c6191510',
  '0038-acts-on-cases': '2de82c84e845997a',
  '0039-read-model-proofs': '153912f759e4d59c',
  '0040-imported-notes': '2146a5d034066b32',
  '0041-note-folds': '8f1c6ea33504ebad',
  '0044-cosigned-checkpoints': '17d62a2339de1bfe',
  '0045-scheduled-backups': 'f7fdb2c5e59def8e',
  '0059-cosigned-times': 'de3ceda5856c1cb1',
  '0060-case-steps': 'dcede09d6d7fcc7a',
  '0061-fold-marks': '455edab51bf84054',
  '0062-fold-mark-indexes': 'ae7e6f8e891cb6d9',
  '0063-queue-hours': '2817e359999a5659',
  '0070-write-marks': '6b75bccc152d6c11',
  '0071-refused-notes': '45622924f6dead72',
  '0072-folded-notes-by-tier': 'b3f73d1bbde76370',
};

t.test('a migration is never changed once it is here', async (t) => {
  for (const { name, checksum } of readMigrations())
    t.equal(checksum.slice(0, 16), RELEASED[name], name);
});

t.test('no migration is missing', async (t) => {
  t.same(
    readMigrations().map(({ name }) => name),
    Object.keys(RELEASED),
  );
});
