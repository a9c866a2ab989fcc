// Verifies a sealed log with the packages of Go's checksum database, which are written by others:
//
//	program URL KEY [OLDER_CHECKPOINT_FILE] < leaves
//
// Opens the checkpoint of URL with KEY, checks that the published tiles have its root, that it continues the
// older checkpoint, and that each line of the input, "number hex-content [hex-path]", is a leaf of the tree. The path is
// an inclusion proof of the service in the tree of KEY's checkpoint; without one, it is made of the tiles.
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func check(err error, what string) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
		os.Exit(1)
	}
}

func get(url string) ([]byte, error) {
	answer, err := http.Get(url)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != 200 {
		return nil, fmt.Errorf("GET %s: %s", url, answer.Status)
	}
	return io.ReadAll(answer.Body)
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

func open(signed []byte, verifier note.Verifier) tlog.Tree {
	opened, err := note.Open(signed, note.VerifierList(verifier))
	check(err, "checkpoint")
	lines := strings.Split(opened.Text, "\n")
	if lines[0] != verifier.Name() {
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

func main() {
	url := os.Args[1]
	verifier, err := note.NewVerifier(os.Args[2])
	check(err, "key")
	signed, err := get(url + "/log/checkpoint")
	check(err, "checkpoint")
	tree := open(signed, verifier)
	reader := tlog.TileHashReader(tree, tiles{url})
	if len(os.Args) > 3 {
		older, err := os.ReadFile(os.Args[3])
		check(err, "older checkpoint")
		before := open(older, verifier)
		proof, err := tlog.ProveTree(tree.N, before.N, reader)
		check(err, "consistency proof")
		check(tlog.CheckTree(proof, tree.N, tree.Hash, before.N, before.Hash), "consistency")
		fmt.Printf("%d events continue %d\n", tree.N, before.N)
	}
	leaves := 0
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); leaves++ {
		parts := strings.Fields(lines.Text())
		number, err := strconv.ParseInt(parts[0], 10, 64)
		check(err, "leaf")
		content, err := hex.DecodeString(parts[1])
		check(err, "leaf")
		var proof tlog.RecordProof
		if len(parts) > 2 {
			path, err := hex.DecodeString(parts[2])
			check(err, "path")
			for ; len(path) >= tlog.HashSize; path = path[tlog.HashSize:] {
				proof = append(proof, tlog.Hash(path[:tlog.HashSize]))
			}
		} else {
			proof, err = tlog.ProveRecord(tree.N, number, reader)
			check(err, "inclusion proof")
		}
		check(tlog.CheckRecord(proof, tree.N, tree.Hash, number, tlog.RecordHash(content)), "inclusion")
	}
	fmt.Printf("%d of %d leaves are in the tree\n", leaves, tree.N)
}
