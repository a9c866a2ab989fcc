-- Recorded from isso 0.14.0 (PyPI): comments posted over its API, dumped by sqlite3; without voters.
BEGIN TRANSACTION;
CREATE TABLE comments (
                tid REFERENCES threads(id),
                id INTEGER PRIMARY KEY,
                parent INTEGER,
                created FLOAT NOT NULL,
                modified FLOAT,
                mode INTEGER,
                remote_addr VARCHAR,
                text VARCHAR NOT NULL,
                author VARCHAR,
                email VARCHAR,
                website VARCHAR,
                likes INTEGER DEFAULT 0,
                dislikes INTEGER DEFAULT 0,
                voters BLOB NOT NULL,
                notification INTEGER DEFAULT 0
            );
INSERT INTO "comments" VALUES(1,1,NULL,1.7958880096229875088e+09,NULL,1,'127.0.0.0','First! **bold** and a [link](https://example.org)','Ann','ann@example.org','https://ann.example',0,0,X'00',NULL);
INSERT INTO "comments" VALUES(1,2,1,1.79588800987566280364e+09,NULL,1,'127.0.0.0','A reply','Bob',NULL,NULL,0,0,X'00',NULL);
INSERT INTO "comments" VALUES(1,3,1,1.79588801010163402554e+09,NULL,1,'127.0.0.0','A reply to the reply

with two paragraphs','Cleo',NULL,NULL,0,0,X'00',NULL);
INSERT INTO "comments" VALUES(2,4,NULL,1.79588801032829189305e+09,NULL,1,'127.0.0.0','On another page, without a name',NULL,NULL,NULL,0,0,X'00',NULL);
INSERT INTO "comments" VALUES(1,5,NULL,1.79588801055260133742e+09,NULL,1,'127.0.0.0','Right to left ‮ override','‮evilname that is much longer than forty characters in all',NULL,NULL,0,0,X'00',NULL);
INSERT INTO "comments" VALUES(1,6,NULL,1.79588801077899193761e+09,NULL,1,'127.0.0.0','long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long long ','Dan',NULL,NULL,0,0,X'00',NULL);
INSERT INTO "comments" VALUES(1,7,NULL,1.79588801100340485572e+09,NULL,4,'127.0.0.0','',NULL,NULL,NULL,0,0,X'00',NULL);
INSERT INTO "comments" VALUES(1,8,7,1.79588801102515602109e+09,NULL,1,'127.0.0.0','An answer to a deleted comment','Finn',NULL,NULL,0,0,X'00',NULL);
CREATE TABLE preferences (    key VARCHAR PRIMARY KEY, value VARCHAR );
CREATE TABLE threads (     id INTEGER PRIMARY KEY, uri VARCHAR(256) UNIQUE, title VARCHAR(256));
INSERT INTO "threads" VALUES(1,'/guestbook/','Guestbook');
INSERT INTO "threads" VALUES(2,'/other/','Other');
CREATE TRIGGER remove_stale_threads AFTER DELETE ON comments BEGIN     DELETE FROM threads WHERE id NOT IN (SELECT tid FROM comments); END;
COMMIT;
