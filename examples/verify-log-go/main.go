// Verifies the sealed log of a service from outside, with the packages of Go's checksum database:
//
//	go run . [-older FILE] [-proof FILE] [-leaves FILE] URL KEY
//
// Opens the checkpoint of URL with KEY and checks that the published tiles have its root. Further:
//
//	-older   a checkpoint that was kept: the tree continues it
//	-proof   a proof of an event (/log/proofs/…): the event is in the log with the fields that are shown
//	-leaves  lines of "number hex-content": each is a leaf of the tree
//
// The exit status is 0 if all of that holds, and 1 otherwise.
package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func check(err error, what string) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "Not verified: %s: %q\n", what, err.Error())
		os.Exit(1)
	}
}

var client = http.Client{Timeout: 30 * time.Second}

func get(url string) ([]byte, error) {
	answer, err := client.Get(url)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != 200 {
		return nil, fmt.Errorf("GET %s: %s", url, answer.Status)
	}
	// A checkpoint has less than 64 KiB, a tile 8.
	return io.ReadAll(io.LimitReader(answer.Body, 1<<16))
}

type tiles struct{ url string }

func (tiles) Height() int { return 8 }

func (tiles) SaveTiles([]tlog.Tile, [][]byte) {}

// Paths of tlog-tiles lack the height that those of the checksum database have.
func (from tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	var all [][]byte
	for _, tile := range wanted {
		data, err := get(from.url + "/log/" + strings.Replace(tile.Path(), "tile/8/", "tile/", 1))
		if err != nil {
			return nil, err
		}
		all = append(all, data)
	}
	return all, nil
}

func open(signed []byte, verifier note.Verifier, what string) tlog.Tree {
	opened, err := note.Open(signed, note.VerifierList(verifier))
	check(err, what)
	lines := strings.Split(opened.Text, "\n")
	if len(lines) < 3 || lines[0] != verifier.Name() {
		check(fmt.Errorf("%q", lines[0]), "origin")
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	check(err, "size")
	root, err := base64.StdEncoding.DecodeString(lines[2])
	check(err, "root")
	tree := tlog.Tree{N: size}
	if copy(tree.Hash[:], root) != tlog.HashSize {
		check(fmt.Errorf("%d bytes", len(root)), "root")
	}
	return tree
}

func unhex(digits string) []byte {
	raw, err := hex.DecodeString(digits)
	check(err, "hex digits")
	return raw
}

// A field of an event: its name and hash, and where the reader may see it, the salt and the value.
type field struct {
	Name, Hash, Salt string
	Text             *string
}

type event struct {
	Leaf         int64
	Facts, Words []field
	WordsHash    *string `json:"words_hash"`
	Path         []string
}

// The hash of the names and hashes of all fields, as canonical JSON: names in order, no spaces. Checks the shown fields.
func commitment(fields []field) []byte {
	hashes := map[string]string{}
	for _, one := range fields {
		hashes[one.Name] = one.Hash
		if one.Text == nil {
			continue
		}
		// A salt of another length would be part of the text.
		salt := unhex(one.Salt)
		found := sha256.Sum256(append(salt, *one.Text...))
		if len(salt) != 16 || hex.EncodeToString(found[:]) != one.Hash {
			check(fmt.Errorf("%q is not what was sealed", one.Name), "field")
		}
	}
	if len(hashes) < len(fields) {
		check(fmt.Errorf("one is named twice"), "field")
	}
	var canonical bytes.Buffer
	encoder := json.NewEncoder(&canonical)
	encoder.SetEscapeHTML(false)
	check(encoder.Encode(hashes), "fields")
	sum := sha256.Sum256(bytes.TrimSpace(canonical.Bytes()))
	return sum[:]
}

func verify(one event, tree tlog.Tree) {
	words := make([]byte, sha256.Size)
	if one.WordsHash != nil {
		words = unhex(*one.WordsHash)
	}
	if one.Words != nil && !bytes.Equal(commitment(one.Words), words) {
		check(fmt.Errorf("leaf %d", one.Leaf), "its words are not those of words_hash")
	}
	var path tlog.RecordProof
	for _, node := range one.Path {
		var hash tlog.Hash
		if copy(hash[:], unhex(node)) != tlog.HashSize {
			check(fmt.Errorf("leaf %d", one.Leaf), "path")
		}
		path = append(path, hash)
	}
	leaf := tlog.RecordHash(append(commitment(one.Facts), words...))
	check(tlog.CheckRecord(path, tree.N, tree.Hash, one.Leaf, leaf), "inclusion")
	var shown []string
	for _, each := range append(one.Facts, one.Words...) {
		if each.Text != nil {
			shown = append(shown, each.Name+"="+*each.Text)
		}
	}
	// In ASCII, so that a text cannot command the terminal.
	line := strconv.QuoteToASCII(strings.Join(shown, " "))
	fmt.Printf("In the log at %d: %s\n", one.Leaf, strings.ReplaceAll(line[1:len(line)-1], `\"`, `"`))
	if one.Words == nil && one.WordsHash != nil {
		fmt.Printf("The words of %d are not shown, so no text is verified\n", one.Leaf)
	}
}

func main() {
	olderFile := flag.String("older", "", "a checkpoint that was kept")
	proofFile := flag.String("proof", "", "a proof of an event")
	leavesFile := flag.String("leaves", "", "lines of number and hex-content")
	flag.Parse()
	if flag.NArg() != 2 {
		flag.Usage()
		os.Exit(1)
	}
	url := strings.TrimRight(flag.Arg(0), "/")
	verifier, err := note.NewVerifier(flag.Arg(1))
	check(err, "key")
	signed, err := get(url + "/log/checkpoint")
	check(err, "checkpoint")
	tree := open(signed, verifier, "the checkpoint of the service")
	reader := tlog.TileHashReader(tree, tiles{url})
	root, err := tlog.TreeHash(tree.N, reader)
	check(err, "tiles")
	if root != tree.Hash {
		check(fmt.Errorf("%v", root), "the tiles have another root")
	}
	continues := func(before tlog.Tree) {
		if before.N > tree.N {
			check(fmt.Errorf("%d events became %d", before.N, tree.N), "the log is shorter than it was")
		}
		proof, err := tlog.ProveTree(tree.N, before.N, reader)
		check(err, "consistency proof")
		check(tlog.CheckTree(proof, tree.N, tree.Hash, before.N, before.Hash), "the log was rewritten")
	}
	fmt.Printf("The tiles have the root of %d events that %s has signed\n", tree.N, verifier.Name())
	if *olderFile != "" {
		older, err := os.ReadFile(*olderFile)
		check(err, "older checkpoint")
		before := open(older, verifier, "the older checkpoint")
		continues(before)
		fmt.Printf("They continue the %d of the older checkpoint\n", before.N)
	}
	if *proofFile != "" {
		var proof struct {
			Checkpoint string
			Events     []event
		}
		content, err := os.ReadFile(*proofFile)
		check(err, "proof")
		check(json.Unmarshal(content, &proof), "proof")
		if len(proof.Events) == 0 {
			check(fmt.Errorf("it is of no event"), "proof")
		}
		then := open([]byte(proof.Checkpoint), verifier, "the checkpoint of the proof")
		continues(then)
		for _, one := range proof.Events {
			verify(one, then)
		}
	}
	if *leavesFile != "" {
		file, err := os.Open(*leavesFile)
		check(err, "leaves")
		leaves := 0
		for lines := bufio.NewScanner(file); lines.Scan(); leaves++ {
			digits, content, _ := strings.Cut(lines.Text(), " ")
			number, err := strconv.ParseInt(digits, 10, 64)
			check(err, "leaf")
			proof, err := tlog.ProveRecord(tree.N, number, reader)
			check(err, "inclusion proof")
			check(tlog.CheckRecord(proof, tree.N, tree.Hash, number, tlog.RecordHash(unhex(content))), "inclusion")
		}
		fmt.Printf("%d leaves are in the tree\n", leaves)
	}
}
