/* The kernel's C interface. One function per page of docs/engine.md's border.
 *
 * Memory: what a caller passes in must hold until the call returns; nothing of it is
 * kept. What a call returns belongs to the caller, who frees it once with the function
 * named after it. Pointers to no elements may be null.
 *
 * Failures: a function that returns a pointer returns null and fills `failure`, when
 * that is not null. No function unwinds or aborts.
 *
 * Threads: every object may be used by many threads at once, except for being freed.
 * Threads that a call starts end with it; after a fork every object works on.
 */
#ifndef ARROWPREP_H
#define ARROWPREP_H

#include <stddef.h>
#include <stdint.h>

/* row: of the text that is at fault, or -1; message: UTF-8, ends with a zero byte */
typedef struct {
  int64_t row;
  char message[240];
} arrowprep_failure;

/* `count` strings one after the other in `size` bytes; count + 1 offsets */
typedef struct {
  const uint8_t *data;
  size_t size;
  const int64_t *offsets;
  size_t count;
} arrowprep_strings;

/* Added tokens in matching order, as UTF-8 that is not checked but only compared.
 * flags, one byte each: 1 single_word, 2 lstrip, 4 rstrip, 8 found but left as text */
typedef struct {
  arrowprep_strings contents;
  const uint32_t *ids;
  const uint8_t *flags;
} arrowprep_added;

/* Pre-tokenizers as programs over classes of characters, of which there are up to 64.
 * runs: (first code point, class + (script << 8)) up to the next, in order. words, for each pre-tokenizer:
 * how many alternatives its pattern has; how many steps; behavior (0 removed, 1 isolated,
 * 2 merged with previous, 3 merged with next, 4 contiguous) + 8 if inverted; of each alternative
 * its first step and the set of classes that it may begin with, all bits where it may match
 * nothing; then each step in three words,
 * (kind, a, b): 0 one of set a; 1 + (256 if it gives nothing back) + (least << 32): a run of set
 * a, at most b; 2 go on, or from a; 3 go to a; 4 whether (b: 1) or unless (0) what follows up to
 * the next 8 matches here, then from a; 5 what follows up to the next 8 once, then from a;
 * 6 + (further << 32) whether or unless one of set a is so much further behind; 7 the end, or before one of a; 8 done.
 * Or three words alone: (n, 0, 5) cuts after n characters, (0, 0, 6) where the script changes, of which 0 is none:
 * what has none joins what is before it, and is dropped where nothing is. */
typedef struct {
  const uint32_t *runs;
  size_t run_count;
  const uint64_t *words;
  size_t word_count;
} arrowprep_layers;

/* An Arrow string column: `count` + 1 offsets into `size` bytes of data, of 64 bits if
 * `wide` and else of 32, aligned. valid: null, or bit i + valid_start (lowest first)
 * says whether text i is there; what a null text covers is not read. Nothing beyond
 * `size` bytes is read. */
typedef struct {
  const uint8_t *data;
  size_t size;
  const void *offsets;
  uint32_t wide;
  size_t count;
  const uint8_t *valid;
  size_t valid_start;
} arrowprep_texts;

/* texts + 1 offsets; `tokens` ids, and when traced as many starts and ends (characters
 * of the text) and words (numbers of pieces). left: `left_count` texts that have no
 * tokens here, and must be encoded in another way. What follows is not for callers. */
typedef struct {
  size_t texts;
  size_t tokens;
  size_t left_count;
  const int32_t *offsets;
  const uint32_t *ids;
  const uint32_t *starts;
  const uint32_t *ends;
  const uint32_t *words;
  const uint32_t *left;
  void *owner;
} arrowprep_encoded;

/* A list column: `count` + 1 offsets, as above, into `size` ids. */
typedef struct {
  const int32_t *ids;
  size_t size;
  const void *offsets;
  uint32_t wide;
  size_t count;
} arrowprep_rows;

/* As many texts as there were rows: `size` bytes of UTF-8, and offsets into them. */
typedef struct {
  size_t size;
  const uint8_t *text;
  const int32_t *offsets;
  void *owner;
} arrowprep_decoded;

/* Pieces that were counted, in the order in which they first came: `size` bytes, count + 1
 * offsets into them, how often each piece came, and the number of the text in which it
 * came first, from the first one on that was fed. */
typedef struct {
  size_t count;
  size_t size;
  const uint8_t *data;
  const int64_t *offsets;
  const int64_t *counts;
  const int64_t *texts;
  void *owner;
} arrowprep_counted_pieces;

/* A merge: the ids that are joined, and the id of what they make. */
typedef struct {
  uint32_t left;
  uint32_t right;
  uint32_t joined;
} arrowprep_merge;

/* What is large in a tokenizer file: `count` tokens in UTF-8, `size` bytes of it, count + 1
 * offsets; as many ids, or scores where the vocabulary is a list; of pieces scores, and their kinds as ids. ways: places of the left
 * token, the right one, and what they make, of each merge. vocab, merges_at: from which byte
 * of the file to which they are written; 0 to 0 for what is not there. map: `map_size` bytes
 * of the normalizer's map of characters, written in base64 at map_at. */
typedef struct {
  size_t count;
  size_t size;
  const uint8_t *data;
  const int64_t *offsets;
  const int64_t *ids;
  const double *scores;
  size_t merges;
  const int32_t *ways;
  size_t vocab[2];
  size_t merges_at[2];
  const uint8_t *map;
  size_t map_size;
  size_t map_at[2];
  void *owner;
} arrowprep_parts;

typedef struct arrowprep_counter arrowprep_counter;
typedef struct arrowprep_decoder arrowprep_decoder;
typedef struct arrowprep_learner arrowprep_learner;
typedef struct arrowprep_model arrowprep_model;
typedef struct arrowprep_tokenizer arrowprep_tokenizer;

/* The version of this interface: ABI in src/ffi.rs, raised with every change of this header. */
uint32_t arrowprep_abi(void);

/* The code that runs here: 0 portable, 1 AVX2, 2 AVX-512. ARROWPREP_KERNEL_CPU=portable forces 0, avx2 no more than 1. */
uint32_t arrowprep_cpu(void);

/* A model.
 * kind: 0 byte-level BPE, 1 BPE of characters, 2 Unigram, 3 WordPiece, 4 WordLevel
 * options: 1 a piece that is a token is taken as it is, 2 unknown neighbours are one token,
 *   4 a character that is no token is spelled in tokens <0x00> to <0xFF>, where they are there,
 *   256 pieces are bytes, and tokens of the characters that spell them (kind 0 always);
 *   of kinds 3 and 4: 8 words are normalized and cut as BERT's are: 16 cleaned, 32 with spaces around
 *   ideographs, 64 stripped of accents, 128 in lower case
 * tokens: with an id each, of kind 2 their place; of kind 0 spelled in byte characters
 * scores: of kind 2, one for each token
 * ways: places of the left token, the right one, and what they make, of each of the merges
 * affix: of kind 3 what tokens inside a word begin with; of others the character that stands for a space in
 *   tokens where pieces have the space, empty where a space is a space; of kinds 0 and 1 also what stands before
 *   every character of a piece but the first, and what stands behind the last
 * unknown: the id of the unknown token; -1 there is none, unknown characters are dropped;
 *   -2 there should be one, and its absence is an error
 * longest: of kind 3; a word of more characters is unknown
 * cache_bytes: for known pieces; 0 for none */
typedef struct {
  uint32_t kind;
  uint32_t options;
  arrowprep_strings tokens;
  const uint32_t *ids;
  const double *scores;
  const uint32_t (*ways)[3];
  size_t merges;
  arrowprep_strings affix;
  int64_t unknown;
  size_t longest;
  size_t cache_bytes;
} arrowprep_model_parts;

arrowprep_model *arrowprep_model_new(const arrowprep_model_parts *parts, arrowprep_failure *failure);
void arrowprep_model_free(arrowprep_model *model);

/* Changes of a text, in order: a number, options and two texts each.
 * 0 the first text is put in front; 1 the first is replaced by the second (option 1: which
 * stands for all of it, not for its last character); 2 the first, which stands for a
 * space, becomes one; 3 the first, or a space where it is empty, is put in front of what does not begin with it
 * (option 1: at the start of a text alone); 4 it is normalized to NFC (options: 2 not composed: NFD, 4 compatible: NFKC,
 * both NFKD; 1 composed characters stand for all that they are made of); 5 white space is taken off (options: 1 at
 * the start, 2 at the end); 6 two or more of the first, one byte, are replaced by the second
 * (option 1 as for 1); 7 its words alone, each behind a space unless it begins with the first
 * text; 8 SentencePiece's map of characters, the first (option 1: what is replaced stands for all
 * of its characters, not for the first); 9 something is done to each character by itself (option, a number:
 * 1 lower case, 2 marks are taken out, 3 controls are taken out and separators made spaces as Nmt does, 4 as
 * BERT does, 5 spaces are put around ideographs, 6 nonspacing marks are taken out); 10 its bytes, each as the
 * character that byte-level vocabularies spell it with; 11 what a pattern matches is replaced by the second text (option
 * 1 as for 1); the first is a program in words of 64 bits, the lowest byte first: a number of runs, each a first
 * code point + (class << 32), and the words of one pre-tokenizer as `arrowprep_layers` has them */
typedef struct {
  const uint32_t *numbers;
  const uint32_t *options;
  arrowprep_strings texts;
} arrowprep_steps;

/* What is done to every piece: steps change it, layers cut it, unless they are null. */
typedef struct {
  arrowprep_steps steps;
  const arrowprep_layers *layers;
} arrowprep_stage;

/* A pipeline over a model, which it keeps alive.
 * cut: 0 not at all, by the pattern of 1 GPT-2, 2 cl100k, 3 Qwen 2, 4 o200k, 5 Tekken,
 *   6 Kimi K2, 7 DeepSeek V3; 64 before each space, 65 into BERT's words, for models
 *   that normalize them (option 8) and for no others
 * before: what is done to a text before the tokens in_normalized are looked for in it
 * stages: what is done after that, each to what the one before made, before `cut` cuts */
typedef struct {
  uint32_t cut;
  arrowprep_steps before;
  const arrowprep_stage *stages;
  size_t stage_count;
  arrowprep_added in_raw;
  arrowprep_added in_normalized;
} arrowprep_pipeline_parts;

arrowprep_tokenizer *arrowprep_tokenizer_new(const arrowprep_model *model, const arrowprep_pipeline_parts *parts,
                                             arrowprep_failure *failure);
void arrowprep_tokenizer_free(arrowprep_tokenizer *tokenizer);

/* The tokens of a column, on up to `threads` threads, the caller's included. */
arrowprep_encoded *arrowprep_encode(const arrowprep_tokenizer *tokenizer, const arrowprep_texts *texts,
                                    uint32_t trace, size_t threads, arrowprep_failure *failure);
/* The ids alone as an Arrow array of list<int32>, of the C data interface, whose owner the caller is; the validity of
 * the texts is not in it. 1 where it was written to `lists`, 0 where a text was left, so that arrowprep_encode must be
 * asked, -1 for a failure. */
struct ArrowArray;
int32_t arrowprep_encode_lists(const arrowprep_tokenizer *tokenizer, const arrowprep_texts *texts, size_t threads,
                               struct ArrowArray *lists, arrowprep_failure *failure);
/* The ids of one text of `size` bytes: how many there are, or -1. They are written where
 * there is `room` for all of them; else call again with more. */
int64_t arrowprep_ids(const arrowprep_tokenizer *tokenizer, const uint8_t *text, size_t size,
                      uint32_t *ids, size_t room, arrowprep_failure *failure);
/* The same with starts, ends and words: four columns of `room` numbers, one after the other. */
int64_t arrowprep_trace(const arrowprep_tokenizer *tokenizer, const uint8_t *text, size_t size,
                        uint32_t *columns, size_t room, arrowprep_failure *failure);

/* Where rows come from and what they become. Of row i: counts[i] values from takes[i] on
 * are its own, lengths[i] with what is put around them, lefts[i] of that padding in front;
 * a row of length 0 gets nothing. before, after: what stands around the values of every
 * row. width: bytes of a value, 1 or 4. */
typedef struct {
  size_t rows;
  const int64_t *takes;
  const int64_t *counts;
  const int64_t *lengths;
  const int64_t *lefts;
  const void *before;
  size_t before_count;
  const void *after;
  size_t after_count;
  uint32_t width;
} arrowprep_layout;

/* Write rows one after the other to `out`, which they fill: of `count` values, or where
 * column is null of one that is everywhere the `same`, padded with `fill`. 0, or -1. */
int64_t arrowprep_lay_out(const arrowprep_layout *layout, const void *column, size_t count, int32_t fill,
                          int32_t same, void *out, size_t size, arrowprep_failure *failure);

void arrowprep_encoded_free(arrowprep_encoded *encoded);

/* What each id is in text.
 * form: 0 tokens are in byte characters, else they stand for their own UTF-8, and the bytes of
 *   a row are decoded at once; 1 they are texts
 * firsts: what they become at the start of a row, as many; or none where that is no different
 * flags: of each token 1 for what decoding can skip, 2 for one byte: neighbours are decoded
 *   together. Of tokens with the same id the last counts
 * strip, most: of form 1, a text that is taken off the start of a row, so many times at most */
typedef struct {
  uint32_t form;
  arrowprep_strings tokens;
  arrowprep_strings firsts;
  const uint32_t *ids;
  const uint8_t *flags;
  arrowprep_strings strip;
  size_t most;
} arrowprep_decoder_parts;

arrowprep_decoder *arrowprep_decoder_new(const arrowprep_decoder_parts *parts, arrowprep_failure *failure);
void arrowprep_decoder_free(arrowprep_decoder *decoder);

/* The text of each row, on up to `threads` threads, the caller's included; ids that no token has are passed over. */
arrowprep_decoded *arrowprep_decode(const arrowprep_decoder *decoder, const arrowprep_rows *rows,
                                    uint32_t skip_special, size_t threads, arrowprep_failure *failure);
void arrowprep_decoded_free(arrowprep_decoded *decoded);

/* Counts the pieces of texts as a pipeline cuts them, added tokens aside. options: as of a model of
 * kind 3, where the cut is 65. A counter, and a learner below, is for one thread at a time. */
arrowprep_counter *arrowprep_counter_new(const arrowprep_pipeline_parts *parts, uint32_t options,
                                         arrowprep_failure *failure);
void arrowprep_counter_free(arrowprep_counter *counter);

/* Count a column on up to `threads` threads; -1 when it failed: the counter is of no more use.
 * left: room for as many numbers as there are texts; how many of them must be counted in another
 * way, and their numbers. */
int64_t arrowprep_counter_feed(arrowprep_counter *counter, const arrowprep_texts *texts, size_t threads,
                               uint32_t *left, arrowprep_failure *failure);

/* What was counted so far. */
arrowprep_counted_pieces *arrowprep_counted(const arrowprep_counter *counter, arrowprep_failure *failure);
void arrowprep_counted_free(arrowprep_counted_pieces *counted);

/* Learns merges. ids: `size` of them, the words one after the other; words + 1 offsets, and
 * how often each word comes. tokens: the texts of the ids; prefix: one string, what tokens
 * inside a word begin with. max_length: of a token in ids of the words, UINT64_MAX for any */
arrowprep_learner *arrowprep_learner_new(const uint32_t *ids, size_t size, const int64_t *offsets,
                                         const int64_t *counts, size_t words,
                                         const arrowprep_strings *tokens, const arrowprep_strings *prefix,
                                         uint64_t max_length, arrowprep_failure *failure);
void arrowprep_learner_free(arrowprep_learner *learner);

/* The next merges, up to `room`, until there are vocab_size tokens or no pair comes
 * min_count times; how many: fewer than `room` were all. SIZE_MAX when it failed. */
size_t arrowprep_learn(arrowprep_learner *learner, size_t vocab_size, int64_t min_count,
                       arrowprep_merge *out, size_t room, arrowprep_failure *failure);

/* The vocabulary and the merges of a tokenizer.json of `size` bytes. Fails where anything
 * about them is unusual, and says nothing else of what is wrong; of the rest of the file
 * only where it ends is looked at. */
arrowprep_parts *arrowprep_read(const uint8_t *json, size_t size, arrowprep_failure *failure);

/* The pieces that a SentencePiece model begins with; vocab[1] is the byte behind them. */
arrowprep_parts *arrowprep_read_pieces(const uint8_t *model, size_t size, arrowprep_failure *failure);

/* The tokens of a .tiktoken file, and of the list at "vocab" in a tekken.json: in byte
 * characters, with their ranks as ids, which rise. */
arrowprep_parts *arrowprep_read_ranks(const uint8_t *lines, size_t size, arrowprep_failure *failure);
arrowprep_parts *arrowprep_read_tekken(const uint8_t *json, size_t size, arrowprep_failure *failure);

/* The merges of tokens without any: every way to cut one in two others. */
arrowprep_parts *arrowprep_every_way(const arrowprep_strings *tokens, arrowprep_failure *failure);

/* The place of a text among the tokens, or -1. */
int64_t arrowprep_find(const arrowprep_parts *parts, const uint8_t *text, size_t size);
void arrowprep_parts_free(arrowprep_parts *parts);

/* A column of JSON Lines. values: `size` bytes: bits, int64, double, or UTF-8 of which text i is
 * offsets[i] up to offsets[i + 1]. valid: bits, of which there are any only where nulls is not 0 */
typedef struct {
  size_t nulls;
  const uint8_t *valid, *values;
  size_t size;
  const int32_t *offsets;
} arrowprep_line_column;

/* columns: one for each name, each with `rows` values. */
typedef struct {
  size_t rows;
  const arrowprep_line_column *columns;
} arrowprep_lines;

/* The values of JSON Lines whose objects have these keys at most; kinds, one for each name: 0 bool,
 * 1 int64, 2 double, 3 text. Fails where anything about the lines is unusual, and says nothing else
 * of what is wrong, be it that they are no UTF-8. */
arrowprep_lines *arrowprep_read_lines(const uint8_t *json, size_t size, const arrowprep_strings *names,
                                      const uint8_t *kinds, arrowprep_failure *failure);
void arrowprep_lines_free(arrowprep_lines *lines);

#endif
