;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.sample-log
  "Writes web-server logs to try things on: realistic, of any size, the same for the same seed.

  - `write!`       a log, to a stream

  Most lines are in Apache's combined format, about 220 bytes long: URLs, clients and referrers by Zipf's law, times
  that advance with the hours of the day, statuses 200, 304, 404 and a few others. About one line in 100 is odd: cut short,
  empty, with CR LF, two spaces, a bad or no size, bytes that are not UTF-8, very long, and so on."
  (:require
   [clojure.string :as str])
  (:import
   (java.io BufferedOutputStream OutputStream)
   (java.nio.charset StandardCharsets)
   (java.time LocalDateTime)
   (java.time.format DateTimeFormatter)
   (java.util Locale Random)))

(set! *warn-on-reflection* true)

;;;; Drawing
;;
;; All numbers come from java.util.Random, whose algorithm is part of its documentation, and are integers, because the last bit of
;; a logarithm depends on the machine.

(defn- below "Returns a number from 0 to n - 1." ^long [^Random random ^long n]
  (.nextInt random (int n)))

(defn- pick [random choices]
  (nth choices (below random (count choices))))

(defn- rank
  "Returns a number from 0 to 2^`octaves` - 2, low ones more likely: about as by Zipf's law with exponent 1, but in steps. Each
  octave [2^k - 1, 2^(k+1) - 2] is as likely as any other, and so is each number within one."
  ^long [random ^long octaves]
  (let [size (bit-shift-left 1 (below random octaves))]
    (+ (dec size) (below random size))))

(defn- of-rank
  "Returns the random numbers that make the page, the client and so on of this rank, which thus is the same each time."
  ^Random [^long n]
  (Random. (unchecked-multiply n 6364136223846793005))) ; Random's first numbers for 1, 2, 3 ... would resemble each other

;;;; Pages

(def ^:private site
  "The address of the site: the one that the rules of Wide Finder 2 leave out of the referrers."
  "http://www.tbray.org")

(def ^:private popular
  ["/ongoing/ongoing.atom" "/favicon.ico" "/ongoing/" "/ongoing/serif.css" "/ongoing/ongoing.rss" "/" "/ongoing/ongoing.js"
   "/robots.txt" "/ongoing/banner-640.jpg" "/ongoing/comments.atom" "/ongoing/rss.xml" "/ongoing/sans.css" "/ongoing/truth/"
   "/apple-touch-icon.png"])

(def ^:private sections ["Technology" "Business" "Arts" "Language" "The_World" "Places"])

(def ^:private words
  ["Ant" "Basalt" "Canal" "Delta" "Ember" "Fern" "Garnet" "Harbour" "Ibis" "Juniper" "Kestrel" "Lichen" "Meadow" "Nettle"
   "Orchard" "Pebble" "Quarry" "River" "Saddle" "Teacup" "Umber" "Violet" "Willow" "Yarrow" "Zephyr" "Atlas" "Bridge" "Copper"
   "Dune" "Engine" "Forest" "Glacier" "Hinge" "Island" "Jetty" "Keel" "Lantern" "Mirror" "Needle" "Oar" "Paper" "Quill"])

(defn- title [random]
  (case (below random 4)
    0 (pick random words)
    (1 2) (str (pick random words) "-" (pick random words))
    3 (str (pick random words) "-" (pick random words) "-" (below random 256))))

(defn- two-digits [^long n]
  (if (< n 10) (str "0" n) (str n)))

(defn- article [random]
  (let [year (+ 2003 (below random 23))]
    (str "/ongoing/When/" (quot year 10) "x/" year "/" (two-digits (inc (below random 12))) "/"
         (two-digits (inc (below random 28))) "/" (title random))))

(defn- url [^long rank]
  (if (< rank (count popular))
    (popular rank)
    (let [random (of-rank rank)]
      (case (below random 8)
        (0 1 2 3) (article random)
        (4 5) (str (article random) (pick random [".jpg" ".png" ".gif" ".webp"]))
        6 (str "/ongoing/What/" (pick random sections) "/" (title random) ".html")
        7 (str "/ongoing/search?q=" (title random) "&page=" (below random 32))))))

(defn- size-bytes
  "Returns the size of a page: from half a kilobyte to 128 KB, each octave equally likely."
  [^long rank]
  (let [random (of-rank (- -1 rank))
        size (bit-shift-left 512 (below random 8))]
    (+ size (below random size))))

;;;; Visitors
;;
;; All names are in the domains that are reserved for examples, except the site's own, which the rules of Wide Finder 2 name.

(def ^:private providers
  [".dyn.example.net" ".cable.example.org" ".dsl.example.com" ".mobile.example.net" ".campus.example.edu"])

(defn- client [^long rank]
  (let [random (of-rank rank)
        byte! (fn byte! [] (below random 256))]
    (case (below random 50)
      0 (str "2001:db8:" (byte!) ":" (byte!) "::" (byte!))
      (1 2 3 4 5 6 7 8 9) (str (pick random "abcdefgh") (byte!) "-" (below random 4096) (pick random providers))
      (str (inc (below random 223)) "." (byte!) "." (byte!) "." (byte!)))))

(def ^:private other-sites
  ["http://search.example.com/?hl=en&q=" "https://duck.example/?q=" "http://links.example.org/story/" "http://planet.example.net/"
   "https://news.example.com/item?id=" "http://reader.example.com/feeds/" "http://weblog.example.org/archive/"])

(defn- other-page [^long rank]
  (let [random (of-rank rank)
        other-site (pick random other-sites)]
    (str other-site (if (str/ends-with? other-site "q=")
                      (str/join "+" (repeatedly (+ 2 (below random 2)) #(pick random words)))
                      (below random 1000000)))))

(def ^:private robots
  ["FeedReader/3.1 (+http://reader.example.com/about; 4132 subscribers)" "ExampleBot/2.1 (+http://bot.example.org/)" "curl/8.5.0"
   "NetNewsWire/6.1 (Mac OS X; http://feeds.example.com/)" "-" "Python-urllib/3.11" "Wget/1.21.4"])

(def ^:private systems
  ["Windows NT 10.0; Win64; x64" "Macintosh; Intel Mac OS X 10_15_7" "X11; Linux x86_64" "Windows NT 5.1; U; en-US"])

(def ^:private browsers
  ["Gecko/20100101 Firefox/" "AppleWebKit/537.36 Chrome/" "AppleWebKit/605.1.15 Safari/" "Trident/7.0 MSIE/"])

(defn- agent-name [^long rank]
  (let [random (of-rank rank)
        version (fn version [] (str (+ 90 (below random 64)) "." (below random 16)))]
    (if (= 1 (mod rank 6))
      (pick random robots)
      (str "Mozilla/5.0 (" (pick random systems) "; rv:" (version) ") " (pick random browsers) (version)))))

(def ^:private agent-octaves 6)
(def ^:private agent-names (mapv agent-name (range (dec (bit-shift-left 1 agent-octaves)))))

;;;; Lines

(def ^:private ^LocalDateTime first-time (LocalDateTime/of 2025 3 1 0 0))

(def ^:private ^DateTimeFormatter time-format (DateTimeFormatter/ofPattern "dd/MMM/yyyy:HH:mm:ss" Locale/ENGLISH))

(def ^:private lines-per-second
  "How many lines there are in a second, on average, by the hour of the day."
  [3 2 2 1 1 2 3 5 7 8 9 10 10 10 10 10 9 9 8 8 8 7 6 4])

(defn- time-after
  "Returns the time of the line after one of this time."
  ^LocalDateTime [random ^LocalDateTime time]
  (if (zero? (below random (lines-per-second (.getHour time)))) (.plusSeconds time 1) time))

(def ^:private request-methods (into ["POST" "HEAD"] (repeat 60 "GET")))
(def ^:private protocols (into ["HTTP/1.0" "HTTP/2.0"] (repeat 14 "HTTP/1.1")))
(def ^:private statuses
  (reduce into ["301" "302" "206" "403" "500"] [(repeat 200 "200") (repeat 32 "304") (repeat 10 "404")]))

(defn- line [^Random random ^LocalDateTime time]
  (let [page (rank random 15)
        status (pick random statuses)
        path (cond
               (not= status "404") (url page)
               (zero? (below random 4)) "/wp-login.php"
               :else (article (of-rank page)))
        referrer (case (below random 8)
                   (0 1 2) "-"
                   (3 4) (str site (url (rank random 15)))
                   (other-page (rank random 16)))]
    (str (client (rank random 18)) " - - [" (.format time-format time) " +0000] \""
         (pick random request-methods) " " path " " (pick random protocols) "\" " status " " (if (= status "304") "-" (size-bytes page))
         " \"" referrer "\" \"" (agent-names (rank random agent-octaves)) "\"")))

;;;; Odd lines, like those in real logs that don't fit the format

(def ^:private odd-lines
  ["" " " "\t" "-" "logrotate: done" "\u0000\u0000\u0000\u0000" "127.0.0.1 - - [01/Mar/2025:00:00:00 +0000]"])

(def ^:private odd-fields
  "What stands in a field of an odd line, by the field's position."
  {0 ["frank" "" "2001:db8:0:0:ffff:ffff:ffff:ffff"]
   2 ["frank" "frank smith"]
   5 ["\"get" "GET" "\"GET\"" "\"\"GET" "\"PROPFIND" "\"-\"" "" "\"\u0016\u0003\u0001\u0002\u0000\u0001\u00FC\""]
   6 ["/ongoing/When/200x/2006/03/30/caf\u00E9" "/\u00FF\u00FE\u0080\u00C3" "/ongoing/When/200x/2006/03/30/na\u00C3\u00AFve"
      "/ongoing/When/200x/2006/03/30/" "/ongoing/When/200x/2006/03/30/a.b" "/ongoing/When/20xx/2006/03/30/Tea"
      "/ongoing/When/200x/2006/3/30/Tea" "/ongoing/When/200x/2006/03/30/Tea/2" "/ongoing/When/200x/2006/03/30/\u0001\t"
      "" "*" (str site "/ongoing/") "/\"quoted\"" "/ongoing/When/200x/2006/03/30/\u0000"]
   8 ["\"200" "2000" "20" "" "404\t" "408" "099"]
   9 ["12a" "+5" "-5" "" "1234567890123456" "0x1F" "--" "99999999999999999999" "1.5" "\u00B2"
      "-" "0" "000000000000007" "000000123456789" "1"]
   10 ["\"\"" "\"" "" "-" "\"-" "-\"" "http://unquoted.example/" "\"http://with.example/a" "\"\"\"" "\"\u00E9\u00A0\""
       (str "\"" site "/ongoing/\"") (str "\"" site "/ongoing\"") (str site "/ongoing/x") "\"\u001B[31m\""]})

(defn- odd
  "Returns an odd line in place of `line`."
  [random line]
  (let [fields (str/split line #" ")
        n (below random 12)]
    (case (below random 10)
      0 (pick random odd-lines)
      1 (str line (pick random ["\r" "\r\r"]))
      2 (str/join " " (take n fields))
      3 (str/join " " (assoc fields n ""))
      4 (str/join " " (update fields n str " -"))
      5 (str/join " " (update fields (pick random [6 10 11]) str (str/join (repeat (+ 400 (below random 400)) "%xxxxxx"))))
      (let [field (pick random [0 2 5 6 8 9 10])]
        (str/join " " (assoc fields field (pick random (odd-fields field))))))))

;;;; Logs

(def ^:const default-seed
  "The seed of a log when none is given."
  1)

(defn write!
  "Writes a log to `out`, and returns how many bytes it has.

  out      java.io.OutputStream; gets about a megabyte at a time; is flushed, and not closed
  options  :size-bytes      whole lines are written until there are so many bytes, required
           :seed            long, default `default-seed`
           :odd?            whether odd lines are mixed in, default true
           :final-newline?  whether the last line has its line feed, default true

  The same seed and size give the same bytes, whatever the machine; a smaller log is the beginning of a larger one. Exceptions of
  `out` are thrown on."
  [^OutputStream out {:keys [size-bytes seed odd? final-newline?] :or {seed default-seed, odd? true, final-newline? true}}]
  (let [random (Random. (long seed))
        size-bytes (long size-bytes)
        out (BufferedOutputStream. out 1048576)]
    (loop [written 0, time first-time]
      (if (< written size-bytes)
        (let [regular (line random time)
              ^String text (if (and odd? (zero? (below random 100))) (odd random regular) regular)
              written (+ written (count text) 1)]
          (.write out (.getBytes text StandardCharsets/ISO_8859_1))
          (when (or final-newline? (< written size-bytes)) (.write out 10))
          (recur written (time-after random time)))
        (do (.flush out)
            (if (or final-newline? (zero? written)) written (dec written)))))))
