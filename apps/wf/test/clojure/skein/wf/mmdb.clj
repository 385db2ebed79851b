;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.mmdb
  "Writes small databases in MaxMind's format, version 2, for tests. Source: the format's specification, maxmind.github.io/MaxMind-DB."
  (:import
   (java.io ByteArrayOutputStream File)
   (java.nio.file Files OpenOption)
   (skein.wf Address)))

(set! *warn-on-reflection* true)

(defn- header [^ByteArrayOutputStream out ^long type ^long size]
  (let [extra (- size 29)
        low (if (neg? extra) size 29)] ; no test needs sizes from 285 on
    (if (< 7 type)
      (do (.write out (int low)) (.write out (int (- type 7))))
      (.write out (int (bit-or (bit-shift-left type 5) low))))
    (when-not (neg? extra) (.write out (int extra)))))

(defn- write-number [^ByteArrayOutputStream out ^long n ^long size]
  (doseq [i (range (dec size) -1 -1)]
    (.write out (int (bit-and 255 (bit-shift-right n (* 8 (long i))))))))

(defn- encode
  "Writes a text, a number (of 32 bits, or [::number type bytes n]), a map or a vector."
  [^ByteArrayOutputStream out x]
  (cond
    (string? x) (let [bytes (.getBytes ^String x "UTF-8")] (header out 2 (alength bytes)) (.write out bytes))
    (int? x) (encode out [::number 6 4 x])
    (map? x) (do (header out 7 (count x)) (doseq [[k v] x] (encode out k) (encode out v)))
    (= ::number (first x)) (let [[_ type size n] x] (header out type size) (write-number out n size))
    :else (do (header out 11 (count x)) (run! #(encode out %) x))))

(defn- bits
  "Returns the first `n` bits of an address of IPv6, or of IPv4 as the lowest of IPv6's."
  [^String text ^long n]
  (let [^bytes address (Address/of text)
        address (if (Address/isV4 address) (byte-array (concat (repeat 12 0) (drop 12 address))) address)
        n (if (neg? (.indexOf text ":")) (+ 96 n) n)]
    (for [i (range n)] (bit-and 1 (bit-shift-right (aget ^bytes address (quot (long i) 8)) (- 7 (rem (long i) 8)))))))

(defn- numbered
  "Adds the nodes of a tree, {0 tree, 1 tree} or {:record record}, to the vector `nodes`. Returns what stands for the tree:
  a node's number, [:record record], or nil."
  [nodes tree]
  (cond
    (nil? tree) nil
    (:record tree) [:record (:record tree)]
    :else (let [i (count @nodes)]
            (vswap! nodes conj nil)
            (let [sides (mapv #(numbered nodes (tree %)) [0 1])]
              (vswap! nodes assoc i sides)
              i))))

(defn write!
  "Writes a database of `type`, {[address bits] record}, into a temporary file. Returns its path."
  [type networks]
  (let [tree (reduce (fn put [tree [[address n] record]] (assoc-in tree (vec (bits address n)) {:record record})) {} networks)
        nodes (volatile! [])
        _ (numbered nodes tree)
        n (count @nodes)
        data (ByteArrayOutputStream.)
        places (into {} (for [record (distinct (vals networks))]
                          (let [at (.size data)] (encode data record) [record at])))
        out (ByteArrayOutputStream.)
        file (File/createTempFile "database" ".mmdb")]
    (doseq [sides @nodes, side sides]
      (write-number out (cond (nil? side) n
                              (vector? side) (+ n 16 (long (places (second side))))
                              :else side)
                    3))
    (.write out (byte-array 16))
    (.write out (.toByteArray data))
    (.write out (byte-array (map unchecked-byte [0xAB 0xCD 0xEF])))
    (.write out (.getBytes "MaxMind.com" "UTF-8"))
    (encode out {"binary_format_major_version" [::number 5 2 2], "binary_format_minor_version" [::number 5 2 0]
                 "build_epoch" [::number 9 8 1], "database_type" type, "description" {"en" "made up"}, "ip_version" [::number 5 2 6]
                 "languages" ["en"], "node_count" n, "record_size" [::number 5 2 24]})
    (Files/write (.toPath file) (.toByteArray out) ^"[Ljava.nio.file.OpenOption;" (make-array OpenOption 0))
    (str file)))
