autocmd BufRead,BufNewFile *.mcpe setfiletype mcpe
